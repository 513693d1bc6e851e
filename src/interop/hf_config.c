#include <config.h>

#include "interop/hf_config.h"

#include <string.h>

#include "interop/hf_family.h"
#include "interop/hf_refusals.h"

/* ---- the language model inside a composite one ---- */

/* Where it stands, and what its model_type is where it does not say. */
typedef struct
{
  const char *key;
  const char *model_type;
} Part;

static const Part parts[] = {
  { "text_config", NULL },
  { "llm_config", NULL },
  { "language_config", NULL },
  { "thinker_config", NULL },
};

typedef struct
{
  const char *outer;
  const char *inner;
} StandardPart;

/* Composite classes whose text_config need not say its type. */
static const StandardPart standard_parts[] = {
  { "aya_vision", "cohere2" },
  { "gemma3", "gemma3_text" },
  { "glm4v", "glm4v_text" },
  { "got_ocr2", "qwen2" },
  { "idefics2", "mistral" },
  { "idefics3", "llama" },
  { "internvl", "qwen2" },
  { "llama4", "llama4_text" },
  { "llava", "llama" },
  { "llava_next", "llama" },
  { "llava_onevision", "qwen2" },
  { "mistral3", "mistral" },
  { "mllama", "mllama_text_model" },
  { "paligemma", "gemma" },
  { "qwen2_5_vl", "qwen2" },
  { "qwen2_vl", "qwen2" },
  { "qwen3_vl", "qwen3_vl_text" },
  { "qwen3_vl_moe", "qwen3_vl_moe_text" },
  { "smolvlm", "llama" },
  { "video_llava", "llama" },
  { "vipllava", "llama" },
  { "voxtral", "llama" },
};

/* Composite classes that keep the language model's keys at the top. */
#define FLAT_COMPOSITES "llava|llava_llama|qwen2_vl|qwen2_5_vl"

static const char *
standard_type (const char *outer)
{
  for (guint i = 0; i < G_N_ELEMENTS (standard_parts); i++)
    if (strcmp (standard_parts[i].outer, outer) == 0)
      return standard_parts[i].inner;
  return NULL;
}

/* Steps into the language model; its type, or NULL where none can be known. */
static const char *
enter_language_model (HfReader *reader)
{
  const char *type = hf_text (reader, "model_type", NULL);
  gboolean entered = FALSE;

  if (type != NULL && hf_refuse_encoders (reader, type))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      JsonObject *inner = hf_object (reader, parts[i].key);
      const char *outer_type = type;

      if (inner == NULL || json_object_get_size (inner) == 0)
        continue;
      reader->outer = reader->object;
      reader->object = inner;
      type = hf_text (reader, "model_type", outer_type != NULL ? standard_type (outer_type) : NULL);
      if (!entered)
        hf_note (reader, "the language model alone, from %s: what sees or hears is not in",
                 parts[i].key);
      entered = TRUE;
      i = (guint)-1; /* a part may hold another */
    }
  if (!entered && type != NULL)
    {
      g_auto (GStrv) flat = g_strsplit (FLAT_COMPOSITES, "|", -1);

      if (g_strv_contains ((const char *const *)flat, type))
        hf_note (reader, "the language model alone, whose keys stand at the top: what sees or "
                         "hears is not in");
    }
  return type;
}

/* ---- notes ---- */

static void
note_left_out (HfReader *reader)
{
  if (hf_count (reader, "num_nextn_predict_layers|mtp_num_hidden_layers", MOST_LAYERS, 0) > 0
      || hf_flag (reader, "use_mtp", FALSE))
    hf_note (reader, "the module that predicts several tokens (MTP) is not in");
  if (json_object_has_member (reader->object, "quantization_config")
      || (reader->outer != NULL && json_object_has_member (reader->outer, "quantization_config")))
    hf_note (reader,
             "quantized on disk; the figures are logical parameters, trained in param_dtype");
  if (hf_flag (reader, "alibi", FALSE))
    hf_note (reader, "ALiBi's cost is not in");
}

static void
note_defaults (HfReader *reader)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < reader->defaults->len; i++)
    g_string_append_printf (all, "%s%s", i > 0 ? ", " : "",
                            (char *)g_ptr_array_index (reader->defaults, i));
  if (all->len > 0)
    hf_note (reader, "not given, %s's defaults: %s", reader->class_name, all->str);
}

static void
note_file (HfReader *reader)
{
  const GPtrArray *notes = json_file_notes (reader->file);

  for (guint i = 0; i < notes->len; i++)
    hf_note (reader, "line %s", (char *)g_ptr_array_index (notes, i));
}

/* ---- the whole ---- */

/* Text that an INI file can hold: no control characters, no comment. */
static char *
plain (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new (NULL);

  for (const char *at = valid; *at != '\0' && out->len < 200; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      g_string_append_unichar (out, g_unichar_isprint (c) && c != '#' ? c : ' ');
    }
  return g_strstrip (g_string_free (out, FALSE));
}

/* Files are mostly called config.json, and their folder for the model. */
static char *
model_name (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *parent = g_path_get_basename (folder);

  if (strcmp (base, "config.json") != 0 || strcmp (parent, ".") == 0 || strcmp (parent, "/") == 0
      || strcmp (parent, "..") == 0)
    return NULL;
  return plain (parent);
}

static void
format_model (HfReader *reader, const char *type, ModelFile *file, HfModel *model)
{
  g_autofree char *name = model_name (json_file_name (reader->file));
  g_autofree char *base = g_path_get_basename (json_file_name (reader->file));
  g_autofree char *shown = plain (base);
  g_autofree char *title = plain (type);
  g_autofree char *provenance = g_strdup_printf ("%s of Hugging Face, model_type %s", shown, title);

  file->name = name;
  file->title = title;
  file->provenance = provenance;
  model->text = model_file_format (file);
}

static gboolean
read_family (HfReader *reader, const HfFamily *family, const char *type, HfModel *model)
{
  ModelFile file;

  model_file_init (&file);
  hf_family_read (family, reader, &file);
  if (problems_count (reader->problems) > 0 && family->encoder_names == NULL)
    hf_refuse_foreign_names (reader);
  if (problems_count (reader->problems) == 0)
    {
      note_file (reader);
      note_left_out (reader);
      note_defaults (reader);
      format_model (reader, type, &file, model);
      model->model_type = g_strdup (type);
    }
  model_file_clear (&file);
  return problems_count (reader->problems) == 0;
}

static gboolean
read_object (HfReader *reader, HfModel *model)
{
  const HfFamily *family;
  const char *type;

  if (hf_refuse_other_kinds (reader))
    return FALSE;
  type = enter_language_model (reader);
  if (problems_count (reader->problems) > 0)
    return FALSE;
  if (type == NULL)
    {
      hf_refuse_untyped (reader);
      return FALSE;
    }
  if (hf_refuse_encoders (reader, type))
    return FALSE;
  family = hf_families_find (type);
  if (family != NULL)
    return read_family (reader, family, type, model);
  hf_refuse_unknown (reader, type);
  return FALSE;
}

gboolean
hf_config_read (const char *name, const char *text, gsize length, HfModel *model,
                Problems *problems)
{
  g_autoptr (Problems) mine = problems_new ();
  g_autoptr (JsonFile) file = json_file_new (name, text, length, mine);
  g_autoptr (GPtrArray) defaults = g_ptr_array_new_with_free_func (g_free);
  HfReader reader
      = { .file = file, .class_name = "transformers", .defaults = defaults, .problems = mine };
  gboolean done = FALSE;

  *model = (HfModel){ .notes = g_ptr_array_new_with_free_func (g_free) };
  if (file != NULL)
    {
      reader.object = json_file_root (file);
      reader.notes = model->notes;
      done = read_object (&reader, model);
    }
  problems_append (problems, mine);
  if (!done)
    hf_model_clear (model);
  return done;
}

void
hf_model_clear (HfModel *model)
{
  g_clear_pointer (&model->model_type, g_free);
  g_clear_pointer (&model->text, g_free);
  g_clear_pointer (&model->notes, g_ptr_array_unref);
}
