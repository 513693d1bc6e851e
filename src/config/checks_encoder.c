#include <config.h>

#include "config/checks.h"

/* Notes that @what is not modelled beside an encoder, and what would do. */
static void
refuse (const Check *check, gboolean is_there, KeyId key, const char *what, const char *instead)
{
  const Setting *blamed = BLAME (check->resolved, ID_model_encoder_layers, key);

  if (blamed != NULL && is_there)
    check_note (check->problems, blamed,
                "not modelled beside an encoder (encoder_layers = %u): %s; %s would do",
                check->scenario->model.encoder_layers, what, instead);
}

static void
check_blocks (const Check *check)
{
  const ModelConfig *model = &check->scenario->model;

  refuse (check, model->block_order != NULL && model->block_order[0] != '\0', ID_model_block_order,
          "block_order", "blocks that are alike");
  refuse (check, model->heads == 0, ID_model_heads, "blocks without attention",
          "heads of 1 and more");
  refuse (check, model->ffn_hidden == 0, ID_model_ffn_hidden, "blocks without feed-forward",
          "ffn_hidden of 1 and more");
  refuse (check, model->experts > 0, ID_model_experts, "experts", "experts = 0");
  refuse (check, model->sliding_window > 0, ID_model_sliding_window, "a window",
          "sliding_window = 0");
  refuse (check, model->kv_lora_rank > 0, ID_model_kv_lora_rank, "latent attention",
          "kv_lora_rank = 0");
  refuse (check, model->qk_norm != QK_NORM_NONE, ID_model_qk_norm, "qk_norm", "qk_norm = none");
  refuse (check, model->keys_as_values, ID_model_keys_as_values, "keys_as_values",
          "keys_as_values = false");
  refuse (check, model->parallel_block, ID_model_parallel_block, "parallel_block",
          "parallel_block = false");
  refuse (check, model->norm_placement == NORMS_SHARED, ID_model_norm_placement,
          "norm_placement = shared", "pre, post or sandwich");
  refuse (check, model->embedding_hidden != model->hidden, ID_model_embedding_hidden,
          "embeddings of another width", "embedding_hidden = auto");
  refuse (check, model->extra_matmul_parameters > 0, ID_model_extra_matmul_parameters,
          "extra_matmul_parameters", "extra_matmul_parameters = 0");
}

/* The embedding serves both stacks; what is checkpointed by child, or offloaded, has no place for
 * cross-attention. */
static void
check_training (const Check *check)
{
  const Scenario *scenario = check->scenario;
  const CheckpointConfig *checkpoint = &scenario->checkpoint;
  const gboolean checkpoints = checkpoint->method != CHECKPOINT_NONE;
  const gboolean has_units = scenario->fsdp.api != API_DDP;

  refuse (check, !scenario_trains_all (scenario), ID_training_trainable,
          "frozen weights and adapters", "trainable = all");
  refuse (check, checkpoints && checkpoint->select_children, ID_activation_checkpointing_select,
          "select = children", "select = all");
  refuse (check, checkpoints && checkpoint->offload, ID_activation_checkpointing_offload,
          "offload = true", "offload = false");
  refuse (check, has_units && scenario->fsdp.units == UNITS_EMBED_BLOCKS_HEAD, ID_fsdp_units,
          "units = embed_blocks_head", "root_and_blocks or stacks_and_blocks");
  refuse (check, has_units && scenario->fsdp.units == UNITS_ATTENTION_AND_MLP, ID_fsdp_units,
          "units = attention_and_mlp", "root_and_blocks or stacks_and_blocks");
}

static void
check_without (const Check *check)
{
  const Scenario *scenario = check->scenario;
  const Setting *units
      = BLAME (check->resolved, ID_model_encoder_layers, ID_fsdp_units, ID_fsdp_api);
  const Setting *relative
      = BLAME (check->resolved, ID_model_encoder_layers, ID_model_relative_positions);

  if (units != NULL && scenario->fsdp.api != API_DDP
      && scenario->fsdp.units == UNITS_STACKS_AND_BLOCKS)
    check_note (
        check->problems, units,
        "units = stacks_and_blocks wraps an encoder and a decoder, and the model has no encoder "
        "(encoder_layers = 0); root_and_blocks would do");
  if (relative != NULL && scenario->model.relative_positions > 0)
    check_note (check->problems, relative,
                "relative_positions are modelled for encoder-decoders; encoder_layers, or "
                "relative_positions = 0, would do");
}

void
check_encoder (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  const Check check = { resolved, scenario, problems };
  const ModelConfig *model = &scenario->model;
  const Setting *blamed = BLAME (check.resolved, ID_model_layers, ID_model_encoder_layers);

  if (!model_has_encoder (model))
    {
      check_without (&check);
      return;
    }
  if (blamed != NULL && model->encoder_layers >= model->layers)
    check_note (check.problems, blamed,
                "encoder_layers %u of %u layers leave no decoder; layers counts the blocks of both",
                model->encoder_layers, model->layers);
  check_blocks (&check);
  check_training (&check);
}
