#include <config.h>

#include "config/checks.h"

#include "config/lora.h"

#include <string.h>

/* What pulled in the file that @setting stands in, where the scenario or an option did. */
static const Setting *
named_by (const Resolved *resolved, const Setting *setting)
{
  const Setting *source = NULL;

  if (strcmp (setting->key->section, "model") == 0)
    source = resolved->settings[ID_model_source];
  else if (strcmp (setting->key->section, "software") == 0)
    source = resolved->settings[ID_software_source];
  else if (strcmp (setting->key->section, "cluster") == 0)
    source = resolved->settings[ID_cluster_source];
  else if (strcmp (setting->key->section, "gpu") == 0)
    {
      source = resolved->settings[ID_gpu_source];
      if (source == NULL || source->origin == ORIGIN_DEFAULT)
        source = resolved->settings[ID_cluster_gpu];
      if (source != NULL && source->origin == ORIGIN_SOURCE)
        source = resolved->settings[ID_cluster_source];
    }
  return source != NULL ? source : setting;
}

static gboolean
is_above (const Setting *a, const Setting *b)
{
  if (a->origin != b->origin)
    return a->origin > b->origin;
  return a->place.line > b->place.line;
}

const Setting *
check_blame (const Resolved *resolved, const KeyId *ids, guint n)
{
  const Setting *top = resolved->settings[ids[0]];
  gboolean same_file = TRUE;

  for (guint i = 0; i < n; i++)
    {
      const Setting *setting = resolved->settings[ids[i]];

      if (setting == NULL || !setting->good)
        return NULL;
      same_file &= strcmp (top->place.file, setting->place.file) == 0;
      if (is_above (setting, top))
        top = setting;
    }
  return top->origin == ORIGIN_SOURCE && !same_file ? named_by (resolved, top) : top;
}

void
check_note (Problems *problems, const Setting *setting, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  problems_add (problems, &setting->place, setting->key->section, setting->key->key, "%s", message);
}

static void
check_positions (const Check *check)
{
  const Setting *blamed = BLAME (check->resolved, ID_model_positions, ID_training_seq_len);
  const Setting *encoder = BLAME (check->resolved, ID_model_positions, ID_training_encoder_seq_len,
                                  ID_training_seq_len, ID_model_encoder_layers);
  const ModelConfig *model = &check->scenario->model;
  const TrainingConfig *training = &check->scenario->training;
  gboolean is_over = model->positions > 0 && training->seq_len > model->positions;

  if (blamed != NULL && is_over)
    check_note (
        check->problems, blamed,
        "training.seq_len %u is over the %u learned positions of the model; at most %u would do",
        training->seq_len, model->positions, model->positions);
  else if (encoder != NULL && !is_over && model_has_encoder (model) && model->positions > 0
           && training->encoder_seq_len > model->positions)
    check_note (
        check->problems, encoder,
        "training.encoder_seq_len %u is over the %u learned positions of the encoder; at most %u "
        "would do",
        training->encoder_seq_len, model->positions, model->positions);
}

static void
check_network (const Check *check)
{
  const ClusterConfig *cluster = &check->scenario->cluster;
  const Setting *nics = BLAME (check->resolved, ID_cluster_nodes, ID_cluster_nics_per_node);
  const Setting *rate = BLAME (check->resolved, ID_cluster_nodes, ID_cluster_nics_per_node,
                               ID_cluster_nic_bandwidth);

  /* Without a cluster its NICs are none; what lacks is told already. */
  if (cluster->nodes <= 1 || check->resolved->settings[ID_cluster_gpus_per_node] == NULL)
    return;
  if (nics != NULL && cluster->nics_per_node == 0)
    check_note (
        check->problems, nics,
        "%u nodes but nics_per_node = 0; one node or nics_per_node and nic_bandwidth would do",
        cluster->nodes);
  else if (rate != NULL && cluster->nic_bytes_per_s <= 0)
    check_note (check->problems, rate,
                "%u nodes but nic_bandwidth is 0; a rate such as 400Gb/s would do", cluster->nodes);
}

static gboolean
is_hybrid (const FsdpConfig *fsdp)
{
  return fsdp->strategy == STRATEGY_HYBRID_SHARD || fsdp->strategy == STRATEGY_HYBRID_SHARD_ZERO2;
}

static void
check_shard_group (const Check *check)
{
  const Scenario *scenario = check->scenario;
  const Setting *blamed
      = BLAME (check->resolved, ID_fsdp_shard_group_size, ID_fsdp_sharding_strategy, ID_fsdp_api,
               ID_cluster_nodes, ID_cluster_gpus_per_node);
  guint group = scenario->fsdp.shard_group_size;
  guint per_node = scenario->cluster.gpus_per_node;
  guint ranks = scenario_ranks (scenario);

  if (blamed == NULL || scenario->fsdp.api == API_DDP || !is_hybrid (&scenario->fsdp))
    return;
  if (ranks % group != 0)
    check_note (
        check->problems, blamed,
        "%u ranks are not a multiple of fsdp.shard_group_size %u, and PyTorch makes neither "
        "subgroups nor a device mesh of them (ValueError, RuntimeError); a divisor of the %u GPUs "
        "of a node would do",
        ranks, group, per_node);
}

/* A group size of reshard_after_forward; 1 and the whole group became words. */
static void
check_reshard (const Check *check)
{
  const FsdpConfig *fsdp = &check->scenario->fsdp;
  const Setting *blamed = BLAME (check->resolved, ID_fsdp_reshard_after_forward, ID_fsdp_api,
                                 ID_fsdp_sharding_strategy, ID_fsdp_shard_group_size,
                                 ID_cluster_nodes, ID_cluster_gpus_per_node);

  if (blamed == NULL || fsdp->api != API_FSDP2 || fsdp->reshard_after_forward <= 0)
    return;
  if (fsdp->shard_group_size % (guint)fsdp->reshard_after_forward != 0)
    check_note (check->problems, blamed,
                "fsdp.reshard_after_forward %d does not divide the %u ranks of a shard group, and "
                "fully_shard raises a ValueError; a factor of %u, or true, would do",
                fsdp->reshard_after_forward, fsdp->shard_group_size, fsdp->shard_group_size);
}

/* torch.utils.checkpoint takes context_fn, by which ops are selected, only
 * where use_reentrant is False. */
static void
check_select (const Check *check)
{
  const CheckpointConfig *checkpoint = &check->scenario->checkpoint;
  const Setting *blamed
      = BLAME (check->resolved, ID_activation_checkpointing_select,
               ID_activation_checkpointing_use_reentrant, ID_activation_checkpointing_method);

  if (blamed != NULL && checkpoint->method != CHECKPOINT_NONE && checkpoint->use_reentrant
      && checkpoint->select_op)
    check_note (
        check->problems, blamed,
        "select = op needs use_reentrant = false: PyTorch refuses context_fn with the reentrant "
        "implementation (ValueError)");
}

static void
check_checkpoint_offload (const Check *check)
{
  const CheckpointConfig *checkpoint = &check->scenario->checkpoint;
  const Setting *blamed
      = BLAME (check->resolved, ID_activation_checkpointing_offload,
               ID_activation_checkpointing_select, ID_activation_checkpointing_method);

  if (blamed != NULL && checkpoint->method != CHECKPOINT_NONE && checkpoint->offload
      && checkpoint->select_children)
    check_note (check->problems, blamed,
                "offload = true with select = children is not modelled; select = all would do");
}

/* With frozen weights below, a reentrant checkpoint's inputs need no gradient. */
static gboolean
is_detached (const Scenario *scenario)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;

  return checkpoint->method != CHECKPOINT_NONE && checkpoint->use_reentrant
         && scenario->training.trained_blocks > 0;
}

static void
check_trainable (const Check *check)
{
  const Scenario *scenario = check->scenario;
  const Setting *count = BLAME (check->resolved, ID_training_trainable, ID_model_layers);
  const Setting *tied = BLAME (check->resolved, ID_training_trainable, ID_model_tied_embeddings);
  const Setting *reentrant
      = BLAME (check->resolved, ID_training_trainable, ID_activation_checkpointing_method,
               ID_activation_checkpointing_use_reentrant);

  if (scenario->training.trainable != TRAINABLE_LAST)
    return;
  if (count != NULL && scenario->training.trained_blocks > scenario->model.layers)
    check_note (check->problems, count,
                "trainable names the last %u of %u blocks; last:%u would do",
                scenario->training.trained_blocks, scenario->model.layers, scenario->model.layers);
  if (tied != NULL && scenario->model.tied_embeddings)
    check_note (
        check->problems, tied,
        "with tied embeddings the head's weight is the embedding's, so a head that is trained "
        "sends gradients through all blocks; trainable = all would do");
  if (reentrant != NULL && is_detached (scenario))
    check_note (
        check->problems, reentrant,
        "below the blocks that are trained nothing needs a gradient, and the reentrant "
        "checkpoint then gives none (\"None of the inputs have requires_grad=True. Gradients "
        "will be None\"); use_reentrant = false would do");
}

/* ---- adapters ---- */

/* Has each kind of block plain linear layers alone? */
static gboolean
is_adaptable (const ModelConfig *model)
{
  for (guint i = 0; i < MAX (model->n_kinds, 1); i++)
    {
      const ModelConfig *kind = model_kind (model, i);

      if (kind->experts > 0 || kind->kv_lora_rank > 0 || kind->extra_matmul_parameters > 0)
        return FALSE;
    }
  return TRUE;
}

/* The shortest side of a matrix that has adapters; 0: none has. */
static guint
shortest_side (const Scenario *scenario)
{
  const ModelConfig *model = &scenario->model;
  guint shortest = 0;

  for (guint i = 0; i < MAX (model->n_kinds, 1); i++)
    {
      LoraMatrix matrices[LORA_MOST_MATRICES];
      guint n
          = lora_list_matrices (model_kind (model, i), scenario->training.lora_targets, matrices);

      for (guint k = 0; k < n; k++)
        {
          guint side = MIN (matrices[k].in, matrices[k].out);

          shortest = shortest == 0 ? side : MIN (shortest, side);
        }
    }
  return shortest;
}

static void
check_adapted_model (const Check *check)
{
  const Scenario *scenario = check->scenario;
  const guint side = shortest_side (scenario);
  const Setting *model = BLAME (check->resolved, ID_training_trainable, ID_model_experts,
                                ID_model_kv_lora_rank, ID_model_extra_matmul_parameters);
  const Setting *targets = BLAME (check->resolved, ID_training_lora_targets, ID_training_trainable,
                                  ID_model_gated_ffn, ID_model_heads, ID_model_ffn_hidden);
  const Setting *rank = BLAME (check->resolved, ID_training_lora_rank, ID_training_trainable,
                               ID_training_lora_targets, ID_model_hidden);

  if (model != NULL && !is_adaptable (&scenario->model))
    check_note (
        check->problems, model,
        "trainable = lora is modelled for attention and a feed-forward of linear layers, not for "
        "experts, latents or extra_matmul_parameters; trainable = all would do");
  else if (targets != NULL && side == 0)
    check_note (check->problems, targets,
                "no block of this model has any of lora_targets; all-linear would do");
  else if (rank != NULL && side != 0 && scenario->training.lora_rank > side)
    check_note (
        check->problems, rank,
        "lora_rank %u is over the %u rows or columns of a matrix of lora_targets, which has no "
        "higher rank itself; at most %u would do",
        scenario->training.lora_rank, side, side);
}

/* Where adapters are not modelled, and why. */
static void
check_adapters (const Check *check)
{
  const Scenario *scenario = check->scenario;
  const FsdpConfig *fsdp = &scenario->fsdp;
  const CheckpointConfig *checkpoint = &scenario->checkpoint;
  const Setting *matmul = BLAME (check->resolved, ID_training_trainable, ID_training_matmul_dtype);
  const Setting *gather = BLAME (check->resolved, ID_training_trainable, ID_fsdp_all_gather_dtype);
  const Setting *select
      = BLAME (check->resolved, ID_training_trainable, ID_activation_checkpointing_select,
               ID_activation_checkpointing_method);
  const Setting *layout
      = BLAME (check->resolved, ID_training_trainable, ID_fsdp_units, ID_fsdp_api);

  if (!scenario_trains_adapters (scenario))
    return;
  check_adapted_model (check);
  if (matmul != NULL && scenario->training.matmul_dtype != MATMUL_PARAM_DTYPE)
    check_note (
        check->problems, matmul,
        "trainable = lora with fp8 matmuls is not modelled; matmul_dtype = param_dtype would do");
  else if (gather != NULL && fsdp->api == API_FSDP2 && fsdp->all_gather_dtype == GATHER_FP8)
    check_note (
        check->problems, gather,
        "adapters are not gathered in fp8 as the frozen weights would be, which is not modelled; "
        "all_gather_dtype = param_dtype would do");
  if (select != NULL && checkpoint->method != CHECKPOINT_NONE && checkpoint->select_op)
    check_note (check->problems, select,
                "select = op keeps every second matmul, and adapters' would count among them: not "
                "modelled with trainable = lora; select = all would do");
  if (layout != NULL && fsdp->api != API_DDP && fsdp->units == UNITS_ATTENTION_AND_MLP)
    check_note (check->problems, layout,
                "units of attention and MLP are not modelled with trainable = lora; units = "
                "root_and_blocks would do");
}

static void
check_micro_batch (const Check *check)
{
  const TrainingConfig *training = &check->scenario->training;
  const Setting *blamed
      = BLAME (check->resolved, ID_training_micro_batch, ID_training_last_micro_batch);

  if (blamed != NULL && training->last_micro_batch > training->micro_batch)
    check_note (check->problems, blamed, "last_micro_batch %u is more than micro_batch %u",
                training->last_micro_batch, training->micro_batch);
}

static void
check_fp8 (const Check *check)
{
  const Scenario *scenario = check->scenario;
  const Setting *matmul = BLAME (check->resolved, ID_training_matmul_dtype, ID_gpu_fp8_flops);
  const Setting *gather
      = BLAME (check->resolved, ID_training_matmul_dtype, ID_fsdp_all_gather_dtype);
  MatmulDtype dtype = scenario->training.matmul_dtype;

  if (matmul != NULL && dtype != MATMUL_PARAM_DTYPE && scenario->gpu.fp8_flops <= 0)
    check_note (check->problems, matmul, "%s, but the GPU has no fp8 (gpu.fp8_flops = 0)",
                MatmulDtype_words[dtype]);
  if (gather != NULL && scenario->fsdp.all_gather_dtype == GATHER_FP8
      && dtype != MATMUL_FP8_TENSORWISE)
    check_note (
        check->problems, gather,
        "all_gather_dtype = fp8 needs training.matmul_dtype = fp8_tensorwise: the scale of a "
        "whole tensor is what the ranks can agree on");
}

static void
check_engine (const Check *check)
{
  const SimulationConfig *simulation = &check->scenario->simulation;
  const Setting *blamed
      = BLAME (check->resolved, ID_simulation_engine, ID_simulation_compute_slowdown);

  if (blamed != NULL && simulation->engine == ENGINE_ONE_PASS && simulation->compute_slowdown > 0)
    check_note (
        check->problems, blamed,
        "engine = one_pass cannot slow compute beside collectives; compute_slowdown = 0%% or "
        "engine = auto would do");
}

/* They are sorted, so the last one tells. */
static void
check_numbers (const Check *check, KeyId key, const NumberedList *list, const char *what, guint n)
{
  const Setting *blamed = BLAME (check->resolved, key, ID_cluster_nodes, ID_cluster_gpus_per_node);

  if (blamed != NULL && list->n > 0 && list->items[list->n - 1].number >= n)
    check_note (check->problems, blamed, "%u is not one of the %u %s, 0 to %u",
                list->items[list->n - 1].number, n, what, n - 1);
}

static void
check_stragglers (const Check *check)
{
  const SimulationConfig *simulation = &check->scenario->simulation;
  guint ranks = scenario_ranks (check->scenario);

  check_numbers (check, ID_simulation_straggler, &simulation->stragglers, "ranks", ranks);
  check_numbers (check, ID_simulation_late_hosts, &simulation->late_hosts, "ranks", ranks);
  check_numbers (check, ID_simulation_degraded_links, &simulation->degraded_links, "nodes",
                 check->scenario->cluster.nodes);
}

static void
check_memory (const Check *check)
{
  const GpuConfig *gpu = &check->scenario->gpu;
  const Setting *blamed = BLAME (check->resolved, ID_gpu_memory, ID_gpu_reserved_memory);

  if (blamed != NULL && gpu->reserved_memory_bytes >= gpu->memory_bytes)
    check_note (check->problems, blamed, "reserved_memory leaves nothing of the GPU's memory");
}

/* What an interruption costs, no default could stand for. */
static void
check_reliability (const Check *check)
{
  const ReliabilityConfig *reliability = &check->scenario->reliability;
  const Setting *known = BLAME (check->resolved, ID_reliability_checkpoint_interval,
                                ID_reliability_checkpoint_time, ID_reliability_restart_time);
  const Setting *blamed = BLAME (check->resolved, ID_reliability_gpu_mtbf);
  const char *missing = reliability->checkpoint_ps < 0 ? "checkpoint_time"
                        : reliability->restart_ps < 0  ? "restart_time"
                                                       : NULL;

  if (known == NULL || blamed == NULL || reliability->gpu_mtbf_ps <= 0)
    return;
  if (missing != NULL)
    check_note (check->problems, blamed,
                "needs %s too, such as 60s: what a failure costs depends on it", missing);
  else if (reliability->checkpoint_ps == 0 && reliability->checkpoint_interval_ps < 0)
    check_note (check->problems, blamed,
                "checkpoint_interval = auto weighs losses against checkpoint_time, which is 0; an "
                "interval such as 10min would do");
}

void
check_scenario (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  Check check = { resolved, scenario, problems };

  check_model (resolved, scenario, problems);
  check_encoder (resolved, scenario, problems);
  check_positions (&check);
  check_network (&check);
  check_shard_group (&check);
  check_reshard (&check);
  check_select (&check);
  check_checkpoint_offload (&check);
  check_trainable (&check);
  check_adapters (&check);
  check_micro_batch (&check);
  check_fp8 (&check);
  check_engine (&check);
  check_stragglers (&check);
  check_memory (&check);
  check_reliability (&check);
  check_limits (resolved, scenario, problems);
}
