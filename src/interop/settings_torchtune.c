#include <config.h>

#include "interop/settings_tools.h"

#include <string.h>

#include "config/lora.h"
#include "interop/settings_reader.h"

/* The recipes wrap each layer in a checkpoint and then shard it with FSDP2. */

static void
find_misuse (const SettingsReader *reader, const Job *job)
{
  const SettingsMember *mode = reader_find (reader, "ac_mode");
  JobSetting offloading = job_default (FALSE), in_backward = job_default (FALSE);
  Place place;

  reader_flag (reader, "enable_activation_offloading", &offloading);
  reader_flag (reader, "optimizer_in_bwd", &in_backward);
  if (offloading.value && !job->activation_checkpointing.value)
    {
      place = job_place (job, &offloading);
      finding_set_fix (findings_add (reader->findings, FINDING_OFFLOADING_ALONE, &place,
                                     "enable_activation_offloading without "
                                     "enable_activation_checkpointing: the recipe refuses it."),
                       "enable_activation_checkpointing: True");
    }
  if (in_backward.value && job->grad_accum.value > 1)
    {
      place = job_place (job, &in_backward);
      finding_set_fix (findings_add (reader->findings, FINDING_STEP_IN_BACKWARD, &place,
                                     "optimizer_in_bwd with gradient_accumulation_steps = %d: the "
                                     "recipe refuses it.",
                                     job->grad_accum.value),
                       "optimizer_in_bwd: False");
    }
  if (mode != NULL
      && settings_is_true (
          settings_find (reader->map, "enable_activation_checkpointing") != NULL
              ? settings_find (reader->map, "enable_activation_checkpointing")->value
              : NULL))
    {
      place = settings_place (reader->tree, mode->line, mode->column);
      finding_set_fix (findings_add (reader->findings, FINDING_AC_MODE_IGNORED, &place,
                                     "ac_mode is not read while enable_activation_checkpointing is "
                                     "True: all blocks are checkpointed whole."),
                       "enable_activation_checkpointing: False");
    }
}

static void
read_checkpointing (const SettingsReader *reader, Job *job)
{
  static const char *const modes[] = { "selective", "full", NULL };
  JobSetting mode, every = job_default (1);

  reader_flag (reader, "enable_activation_checkpointing", &job->activation_checkpointing);
  if (job->activation_checkpointing.value || !reader_word (reader, "ac_mode", modes, 0, &mode))
    return;
  job->activation_checkpointing = mode;
  job->activation_checkpointing.value = TRUE;
  if (mode.value == 0 && g_strcmp0 (settings_text (reader->map, "ac_option"), "op") == 0)
    job->select_every = job_default (0);
  else if (mode.value == 0 && reader_count (reader, "ac_option", &every) && every.value > 0)
    job->select_every = every;
}

/* ---- adapters ---- */

static const char *
unlike_ours (const SettingsReader *model)
{
  JobSetting output = job_default (FALSE), dora = job_default (FALSE), base = job_default (FALSE);
  const char *dropout = settings_text (model->map, "lora_dropout");
  const char *component = settings_text (model->map, "_component_");

  reader_flag (model, "apply_lora_to_output", &output);
  reader_flag (model, "use_dora", &dora);
  reader_flag (model, "quantize_base", &base);
  if (base.value || strstr (component, ".qlora_") != NULL)
    return "frozen weights in 4 bits (QLoRA) are not simulated; in bf16 (lora_…) they are.";
  if (dora.value)
    return "the magnitudes of DoRA (use_dora) are not simulated; plain LoRA is.";
  if (output.value)
    return "adapters beside the head (apply_lora_to_output) are not simulated; those in blocks "
           "are.";
  if (dropout != NULL && g_ascii_strtod (dropout, NULL) > 0)
    return "dropout before adapters (lora_dropout) is not simulated; without it they are.";
  if (strstr (component, "vision") != NULL)
    return "adapters of a model with an encoder are not simulated.";
  return NULL;
}

/* The attention's names are those of transformers but for one. */
static guint
attention_targets (const SettingsReader *model)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  JobSetting where;
  guint targets = 0;

  reader_words (model, "lora_attn_modules", words, &where);
  for (guint i = 0; i < words->len; i++)
    {
      const char *word = g_ptr_array_index (words, i);
      guint one = 0;

      if (lora_targets_parse (strcmp (word, "output_proj") == 0 ? "o_proj" : word, &one, NULL))
        targets |= one;
    }
  return targets;
}

static void
read_adapters (const SettingsReader *model, JobAdapters *adapters)
{
  JobSetting rank = job_default (0), mlp = job_default (FALSE);

  adapters->given = TRUE;
  adapters->unlike = unlike_ours (model);
  reader_count (model, "lora_rank", &rank);
  reader_flag (model, "apply_lora_to_mlp", &mlp);
  adapters->rank = rank.value;
  adapters->targets = attention_targets (model);
  if (mlp.value)
    adapters->targets |= LORA_GATE | LORA_UP | LORA_DOWN;
  if (adapters->targets == 0 && adapters->unlike == NULL)
    adapters->unlike = "lora_attn_modules names nothing that adapters can stand beside.";
}

/* "torchtune.models.llama3_1.lora_llama3_1_70b" */
static void
read_model (const SettingsReader *reader, Job *job)
{
  const SettingsReader model
      = { reader->tree, settings_map (reader->map, "model"), NULL, reader->findings };

  job->model_name = settings_text (model.map, "_component_");
  if (job->model_name != NULL && strstr (job->model_name, "lora_") != NULL)
    read_adapters (&model, &job->adapters);
}

static void
read_units (const SettingsReader *reader, Job *job)
{
  JobSetting efficient = job_default (FALSE);
  const gboolean own_layers = settings_list (reader->map, "custom_sharded_layers") != NULL;

  reader_flag (reader, "memory_efficient_fsdp_wrap", &efficient);
  if (own_layers || efficient.value)
    job->units = job_default (UNITS_EMBED_BLOCKS_HEAD);
}

void
torchtune_read (const SettingsTree *tree, Job *job, Findings *findings, Problems *unsupported)
{
  static const char *const words[] = { "bf16", "fp16", "fp32", NULL };
  const SettingsReader reader = { tree, settings_root (tree), NULL, findings };
  JobSetting reshard = job_default (TRUE);

  job->launcher = tree;
  job->api = job_default (API_FSDP2);
  job->wrap = job_default (WRAP_BLOCKS);
  refuse_degree (tree, reader.map, "tensor_parallel_dim", "tensor", unsupported);
  refuse_degree (tree, reader.map, "context_parallel_dim", "context", unsupported);
  reader_flag (&reader, "fsdp_reshard_after_forward", &reshard);
  job->reshard = reshard;
  job->reshard.value = reshard.value ? RESHARD_AUTO : RESHARD_FALSE;
  reader_word (&reader, "dtype", words, 0, &job->param_dtype);
  job->reduce_dtype = job->param_dtype;
  reader_flag (&reader, "fsdp_cpu_offload", &job->offload);
  reader_flag (&reader, "compile", &job->compile);
  reader_count (&reader, "batch_size", &job->micro_batch);
  reader_count (&reader, "gradient_accumulation_steps", &job->grad_accum);
  read_checkpointing (&reader, job);
  read_units (&reader, job);
  read_model (&reader, job);
  find_misuse (&reader, job);
}
