#include <config.h>

#include "cli/command.h"
#include "cli/foreign_model.h"
#include "cli/output.h"
#include "cli/scenarios.h"
#include "study/check_study.h"

/* The model_type of a Hugging Face config, or "" for another kind of model; NULL and CLI_ERROR
 * where it cannot be read. */
static char *
read_model_type (const char *path, GError **error)
{
  HfModel model;
  char *model_type;

  if (!g_str_has_suffix (path, ".json"))
    return g_strdup ("");
  if (!foreign_model_read (path, NULL, 0, &model, error))
    return NULL;
  model_type = g_steal_pointer (&model.model_type);
  hf_model_clear (&model);
  return model_type;
}

static void
free_file (gpointer data)
{
  checked_file_clear (data);
  g_free (data);
}

/* All that could be read; mistakes of the others are in @problems. */
static GPtrArray *
check_all (const Options *options, const CheckRequest *request, Problems *problems)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (free_file);

  for (guint i = 0; i < options->arguments->len; i++)
    {
      CheckedFile *file = g_new (CheckedFile, 1);

      checked_file_init (file);
      if (check_study (g_ptr_array_index (options->arguments, i), request, file, problems))
        g_ptr_array_add (files, file);
      else
        free_file (file);
    }
  return files;
}

static gboolean
print_files (const GPtrArray *files, Format format, GError **error)
{
  g_autofree char *text = format == FORMAT_CSV    ? checked_csv (files)
                          : format == FORMAT_JSON ? checked_json (files)
                                                  : checked_table (files);

  return files->len == 0 || output_write (text, error);
}

static gboolean
all_are_sound (const GPtrArray *files)
{
  for (guint i = 0; i < files->len; i++)
    if (!checked_file_is_sound (g_ptr_array_index (files, i)))
      return FALSE;
  return TRUE;
}

static ExitCode
check (const Options *options, GError **error)
{
  const CheckOptions *own = &options->check;
  g_autofree char *model_type
      = own->model != NULL ? read_model_type (own->model, error) : g_strdup ("");
  const CheckRequest request
      = { .versions = own->versions,
          .trainer = own->trainer,
          .model = own->model,
          .model_type = model_type != NULL && *model_type != '\0' ? model_type : NULL,
          .cluster = own->cluster,
          .nodes = own->nodes,
          .how = { .overrides = options_overrides (options),
                   .load_foreign_model = foreign_model_load_quietly },
          .n_threads = options->n_jobs };
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (GPtrArray) files = NULL;

  if (model_type == NULL)
    return EXIT_BAD_INPUT;
  files = check_all (options, &request, problems);
  if (!print_files (files, options->format, error) || !scenarios_are_right (problems, error))
    return EXIT_BAD_INPUT;
  return all_are_sound (files) ? EXIT_DONE : EXIT_ANSWER_IS_NO;
}

const Command check_command = {
  .name = "check",
  .arguments = "FILE [FILE...]",
  .summary = "Say what settings will really do, and what each finding costs",
  .examples
  = "  fsdpsim check accelerate.yaml --trainer args.json --model config.json --cluster dgx-h100\n"
    "  fsdpsim check args.json --transformers 4.39 --torch 2.1 --nodes 4 -f json\n",
  .min_arguments = 1,
  .max_arguments = G_MAXUINT,
  .options = OPTION_SET | OPTION_FORMAT | OPTION_JOBS | OPTION_CHECK,
  .run = check,
};
