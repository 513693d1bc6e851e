#include <config.h>

#include <string.h>

#include "cli/foreign_model.h"
#include "cli/import.h"
#include "cli/output.h"
#include "cli/scenarios.h"
#include "config/data.h"
#include "cost/params.h"
#include "report/csv.h"
#include "report/json_members.h"

#define SCENARIO_REST "\n[cluster]\nsource = %s\nnodes = 1\n[training]\nseq_len = 1\n"

/* ---- the model as the rest of the program understands it ---- */

/* The model in a scenario of one token, so that everything that is checked of a
 * model is checked here. */
static ScenarioFile *
load_model (const char *path, const HfModel *model, GError **error)
{
  g_auto (GStrv) clusters = data_list (DATA_CLUSTER);
  g_autofree char *rest = g_strdup_printf (SCENARIO_REST, clusters[0] != NULL ? clusters[0] : "");
  g_autofree char *text = g_strconcat (model->text, rest, NULL);
  g_autofree char *name = g_strdup_printf ("%s, as a model file", path);
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file = scenario_file_load_text (name, name, text, strlen (text), NULL, problems);

  scenarios_are_right (problems, error);
  return file;
}

/* ---- printing ---- */

/* "8,030,261,248" */
static char *
with_commas (gint64 value)
{
  g_autofree char *digits = g_strdup_printf ("%" G_GINT64_FORMAT, value);
  GString *out = g_string_new (NULL);
  gsize n = strlen (digits);

  for (gsize i = 0; i < n; i++)
    {
      if (i > 0 && (n - i) % 3 == 0)
        g_string_append_c (out, ',');
      g_string_append_c (out, digits[i]);
    }
  return g_string_free (out, FALSE);
}

/* "A block has 202,383,360", or both of an encoder-decoder. */
static char *
format_blocks (const ModelConfig *config, const ParamCount *count)
{
  g_autofree char *most = with_commas (count->block);

  if (!model_has_encoder (config))
    return g_strdup_printf ("A block has %s", most);
  g_autofree char *encoder = with_commas (params_of_block (&config->kinds[0]).total);
  g_autofree char *decoder = with_commas (params_of_block (&config->kinds[1]).total);
  return g_strdup_printf ("A block of the encoder has %s, of the decoder %s", encoder, decoder);
}

static char *
format_file (const HfModel *model, const ModelConfig *config, const ParamCount *count)
{
  g_autofree char *total = with_commas (count->total);
  g_autofree char *active = with_commas (count->active);
  g_autofree char *blocks = format_blocks (config, count);
  g_autofree char *embedding = with_commas (count->embedding);
  g_autofree char *head = with_commas (count->head);

  return g_strdup_printf ("# %s parameters, of which a token passes %s.\n"
                          "# %s, the embedding %s, the head %s.\n%s",
                          total, active, blocks, embedding, head, model->text);
}

static char *
format_csv (const char *path, const HfModel *model, const ParamCount *count, gboolean tied)
{
  Csv csv;

  csv_begin (&csv, "file,model_type,total_params,active_params,params_per_block,embedding_params,"
                   "lm_head_params,tied");
  csv_add_text (&csv, path);
  csv_add_text (&csv, model->model_type);
  csv_add_integer (&csv, count->total);
  csv_add_integer (&csv, count->active);
  csv_add_integer (&csv, count->block);
  csv_add_integer (&csv, count->embedding);
  csv_add_integer (&csv, count->head);
  csv_add_integer (&csv, tied ? 1 : 0);
  csv_end_row (&csv);
  return csv_finish (&csv);
}

static char *
format_json (const char *path, const HfModel *model, const ParamCount *count, gboolean tied)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_member_text (builder, "file", path);
  json_member_text (builder, "model_type", model->model_type);
  json_member_whole (builder, "total_params", count->total);
  json_member_whole (builder, "active_params", count->active);
  json_member_whole (builder, "params_per_block", count->block);
  json_member_whole (builder, "embedding_params", count->embedding);
  json_member_whole (builder, "lm_head_params", count->head);
  json_builder_set_member_name (builder, "tied");
  json_builder_add_boolean_value (builder, tied);
  json_member_text (builder, "model_file", model->text);
  json_builder_set_member_name (builder, "notes");
  json_builder_begin_array (builder);
  for (guint i = 0; i < model->notes->len; i++)
    json_builder_add_string_value (builder, g_ptr_array_index (model->notes, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}

static char *
format_model (const char *path, const HfModel *model, const ScenarioFile *file, Format format)
{
  const ModelConfig *config = &scenario_file_variant (file, 0)->model;
  ParamCount count = params_count (config);

  if (format == FORMAT_CSV)
    return format_csv (path, model, &count, config->tied_embeddings);
  if (format == FORMAT_JSON)
    return format_json (path, model, &count, config->tied_embeddings);
  return format_file (model, config, &count);
}

/* ---- the kind ---- */

static ExitCode
import_model (const ImportInput *input, const Options *options, GError **error)
{
  gboolean is_standard_input = strcmp (input->path, "-") == 0;
  HfModel model;
  g_autoptr (ScenarioFile) file = NULL;
  g_autofree char *text = NULL;

  if (!foreign_model_read (input->path, is_standard_input ? input->head : NULL, input->length,
                           &model, error))
    return EXIT_BAD_INPUT;
  file = load_model (input->path, &model, error);
  if (file != NULL)
    {
      if (!options->quiet)
        foreign_model_say_notes (input->path, &model);
      text = format_model (input->path, &model, file, options->format);
      output_write (text, error);
    }
  hf_model_clear (&model);
  return EXIT_DONE;
}

static gboolean
recognises_all (const ImportInput *input)
{
  (void)input;
  return TRUE;
}

const ImportKind import_model_kind = {
  .what = "a Hugging Face config.json",
  .recognises = recognises_all,
  .run = import_model,
};
