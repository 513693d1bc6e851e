#include <config.h>

#include "config/checks.h"

#include <math.h>

#define MOST_TOKENS       0x1p31
#define MOST_PARAMETERS   0x1p50
#define MOST_BLOCK_PASSES 5e5 /* 4 GB and some ten seconds */
#define MOST_RANK_PASSES  1e9 /* half an hour */
#define MOST_BYTES        0x1p62
/* Picoseconds are 63 bits, which is 106 days. */
#define MOST_DAYS        90
#define MOST_BLOCK_HOURS 2.5

static void
limit_ranks (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  const Setting *blamed = BLAME (resolved, ID_cluster_nodes, ID_cluster_gpus_per_node);
  g_autofree char *message = NULL;

  if (blamed == NULL || scenario_ranks (scenario) <= MOST_JOB_RANKS)
    return;
  message = g_strdup_printf ("%u nodes of %u GPUs are %u ranks; at most %u would do",
                             scenario->cluster.nodes, scenario->cluster.gpus_per_node,
                             scenario_ranks (scenario), MOST_JOB_RANKS);
  check_note (problems, blamed, "%s", message);
}

static double
tokens_of (const Scenario *scenario)
{
  return scenario->training.micro_batch * (double)scenario_tokens_of_sequence (scenario);
}

static void
limit_tokens (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  const Setting *blamed
      = BLAME (resolved, ID_training_micro_batch, ID_training_seq_len, ID_training_encoder_seq_len);
  g_autofree char *message = NULL;

  if (blamed == NULL || tokens_of (scenario) <= MOST_TOKENS)
    return;
  message = g_strdup_printf (
      "a micro_batch of %u sequences of %" G_GUINT64_FORMAT " tokens; at most 2^31 tokens would do",
      scenario->training.micro_batch, scenario_tokens_of_sequence (scenario));
  check_note (problems, blamed, "%s", message);
}

/* Of one rank in the whole run. */
static double
block_passes (const Scenario *scenario)
{
  double steps = (double)scenario->simulation.steps + scenario->simulation.warmup_steps;

  return scenario->model.layers * (double)scenario->training.grad_accum * steps;
}

static void
limit_block_passes (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  const Setting *blamed = BLAME (resolved, ID_model_layers, ID_training_grad_accum,
                                 ID_simulation_steps, ID_simulation_warmup_steps);
  g_autofree char *message = NULL;

  if (blamed == NULL || block_passes (scenario) <= MOST_BLOCK_PASSES)
    return;
  message = g_strdup_printf (
      "%u layers x grad_accum %u x %.0f steps with warmup_steps is too long a "
      "run; a product up to %.0f would do",
      scenario->model.layers, scenario->training.grad_accum,
      (double)scenario->simulation.steps + scenario->simulation.warmup_steps, MOST_BLOCK_PASSES);
  check_note (problems, blamed, "%s", message);
}

/* Where each rank runs by itself. */
static void
limit_rank_passes (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  const Setting *blamed
      = BLAME (resolved, ID_simulation_ranks, ID_simulation_compute_jitter, ID_simulation_straggler,
               ID_cluster_nodes, ID_cluster_gpus_per_node, ID_model_layers, ID_training_grad_accum,
               ID_simulation_steps, ID_simulation_warmup_steps);
  double passes = block_passes (scenario);
  g_autofree char *message = NULL;

  if (blamed == NULL || scenario->simulation.ranks != RANKS_ALL
      || passes * scenario_ranks (scenario) <= MOST_RANK_PASSES)
    return;
  message = g_strdup_printf ("%u ranks by themselves, each of %.0f passes through blocks, take too "
                             "long; up to %.0f ranks would do",
                             scenario_ranks (scenario), passes, floor (MOST_RANK_PASSES / passes));
  check_note (problems, blamed, "%s", message);
}

static double
heads_width (const ModelConfig *model)
{
  return (double)model->heads * MAX (model->head_dim, model->value_head_dim);
}

/* All widths of a block together. */
static double
block_width (const ModelConfig *model)
{
  return (double)model->hidden + heads_width (model)
         + (double)model->ffn_hidden * MAX (model->experts_per_token, 1) + model->shared_ffn_hidden
         + model->experts + model->q_lora_rank + 2.0 * model->kv_lora_rank;
}

/* Not below the exact count: all four attention projections as wide as the queries. */
static double
block_parameters_at_most (const ModelConfig *model)
{
  double hidden = model->hidden;
  double latent = (double)model->q_lora_rank + model->kv_lora_rank + model->rope_head_dim;
  double attention = (4 * (hidden + 1) + 2 * latent) * heads_width (model) + latent * (hidden + 2);
  double ffn = (double)model->ffn_hidden * MAX (model->experts, 1) + model->shared_ffn_hidden;
  double expert_hidden = MAX (hidden, model->expert_hidden);

  if (model_has_encoder (model)) /* and cross-attention */
    attention *= 2;
  return attention + 3 * (expert_hidden + 1) * ffn + model->experts * (3 * expert_hidden + 1)
         + 2 * hidden * expert_hidden + 12 * hidden + 4 * heads_width (model)
         + (double)model->extra_matmul_parameters + (double)model->extra_parameters;
}

/* The largest of all kinds of blocks. */
static double
largest_block (const ModelConfig *model, double (*size) (const ModelConfig *kind))
{
  double largest = size (model);

  for (guint i = 1; i < model->n_kinds; i++)
    largest = MAX (largest, size (&model->kinds[i]));
  return largest;
}

static double
parameters_at_most (const ModelConfig *model)
{
  double rows = (double)model->vocab + model->embedding_rows + N_STACKS * (model->positions + 8.0);

  return model->layers * largest_block (model, block_parameters_at_most)
         + ((double)model->hidden + 1) * (rows + 2.0 * model->embedding_hidden)
         + (double)model->outer_parameters;
}

/* Scores of a token that attention has in memory, twice in a decoder with an encoder. */
static double
scores_width (const Scenario *scenario)
{
  if (!scenario_has_scores_in_memory (scenario))
    return 0;
  return 2.0 * scenario->model.heads * (double)scenario_tokens_of_sequence (scenario);
}

/* Above what any activations, logits and their gradients take. */
static double
activation_bytes_at_most (const Scenario *scenario)
{
  const ModelConfig *model = &scenario->model;

  return tokens_of (scenario)
         * (model->layers * (400 * largest_block (model, block_width) + scores_width (scenario))
            + 40.0 * model->vocab);
}

/* ---- simulated time ---- */

/* Of one micro-batch, all on the device one after another. */
static double
compute_seconds_at_most (const Scenario *scenario)
{
  const ModelConfig *model = &scenario->model;
  const GpuConfig *gpu = &scenario->gpu;
  double parameters = parameters_at_most (model);
  double attention = 20.0 * model->layers * largest_block (model, heads_width)
                     * (double)scenario_tokens_of_sequence (scenario);
  double flops = tokens_of (scenario) * (8 * parameters + attention);
  double efficiency = MIN (gpu->matmul_efficiency,
                           MIN (gpu->attention_efficiency, gpu->attention_backward_efficiency));
  double bytes = activation_bytes_at_most (scenario) + 200 * parameters;

  return flops / (MIN (gpu->matmul_flops, gpu->fp32_flops) * efficiency)
         + bytes / (gpu->memory_bytes_per_s * gpu->memory_efficiency);
}

static double
slowest_bytes_per_s (const ClusterConfig *cluster)
{
  double share = MIN (cluster->efficiency[PROTOCOL_LL], cluster->efficiency[PROTOCOL_LL128]);
  double rate
      = MIN (cluster->ring_bytes_per_s * cluster->intra_factor, cluster->shard_copy_bytes_per_s);

  rate = MIN (rate, cluster->reduce_copy_bytes_per_s);
  if (cluster->all_reduce_copy_bytes_per_s > 0)
    rate = MIN (rate, cluster->all_reduce_copy_bytes_per_s);
  /* Of groups that share a node each has its part of the cards. */
  if (cluster->nodes > 1)
    rate = MIN (rate, cluster->nic_bytes_per_s * cluster->nic_efficiency * cluster->nics_per_node
                          / cluster->gpus_per_node / cluster->oversubscription);
  return rate * share;
}

static double
latency_seconds_at_most (const Scenario *scenario)
{
  const ClusterConfig *cluster = &scenario->cluster;
  double steps_ps = 0;
  gint64 fixed_ps = cluster->multi_node_ps;

  for (guint i = 0; i < N_PROTOCOLS; i++)
    {
      fixed_ps += cluster->base_ps[i];
      steps_ps += (double)MAX (cluster->step_ps[i], cluster->hop_ps[i]);
    }
  steps_ps += (double)cluster->simple_reduce_step_ps;
  return ((double)fixed_ps + 2.0 * scenario_ranks (scenario) * steps_ps) * 1e-12;
}

/* Of one micro-batch: two all-gathers, a reduce-scatter and an all-reduce a unit. */
static double
collective_seconds_at_most (const Scenario *scenario)
{
  double n_collectives = 5.0 * (scenario->model.layers + 3);
  double transfer
      = 5 * 4 * parameters_at_most (&scenario->model) / slowest_bytes_per_s (&scenario->cluster);

  return transfer + scenario->cluster.ramp * 1e-3 * sqrt (transfer * n_collectives)
         + n_collectives * latency_seconds_at_most (scenario);
}

/* How much longer collectives take over the worst of the degraded links. */
static double
degradation_at_most (const SimulationConfig *simulation)
{
  double least = 1;

  for (guint i = 0; i < simulation->degraded_links.n; i++)
    least = MIN (least, simulation->degraded_links.items[i].value);
  return 1 / least;
}

/* Of one micro-batch: some hundred launches a block, and every given time some times. */
static double
host_and_given_seconds_at_most (const Scenario *scenario)
{
  const ClusterConfig *cluster = &scenario->cluster;
  double launches = 300.0 * (scenario->model.layers + 3);
  gint64 host_ps = cluster->kernel_launch_ps + cluster->collective_launch_ps + cluster->fsdp_hook_ps
                   + cluster->limiter_wakeup_ps;

  for (guint i = 0; i < scenario->simulation.late_hosts.n; i++)
    host_ps += (gint64)scenario->simulation.late_hosts.items[i].value;
#define TIMING(key, what) host_ps += MAX (scenario->timing.key, 0);
#include "config/timing.def"
#undef TIMING
  return launches * (double)host_ps * 1e-12;
}

/* How much slower than the others the slowest rank may be. */
static double
slowness_at_most (const SimulationConfig *simulation)
{
  double factor = 1;

  for (guint i = 0; i < simulation->stragglers.n; i++)
    factor = MAX (factor, simulation->stragglers.items[i].value);
  return factor * (1 + simulation->compute_slowdown)
         * exp (8 * (simulation->compute_jitter + simulation->gpu_spread));
}

static double
seconds_at_most (const Scenario *scenario)
{
  double micro_batch
      = compute_seconds_at_most (scenario) * slowness_at_most (&scenario->simulation)
        + collective_seconds_at_most (scenario) * degradation_at_most (&scenario->simulation)
        + host_and_given_seconds_at_most (scenario);
  double steps = (double)scenario->simulation.steps + scenario->simulation.warmup_steps;

  return micro_batch * scenario->training.grad_accum * steps;
}

/* ---- what overflows only where all is known ---- */

static gboolean
all_good (const Resolved *resolved)
{
  for (guint i = 0; i < N_KEYS; i++)
    if (resolved->settings[i] == NULL || !resolved->settings[i]->good)
      return FALSE;
  return TRUE;
}

static void
limit_model (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  const Setting *blamed
      = BLAME (resolved, ID_model_layers, ID_model_hidden, ID_model_ffn_hidden, ID_model_heads,
               ID_model_head_dim, ID_model_vocab, ID_model_positions, ID_model_experts,
               ID_model_extra_matmul_parameters, ID_model_extra_parameters,
               ID_model_outer_parameters, ID_model_block_kinds, ID_model_block_order);

  if (blamed != NULL && parameters_at_most (&scenario->model) >= MOST_PARAMETERS)
    check_note (problems, blamed,
                "the model has over 2^50 parameters; fewer layers or narrower ones would do");
}

static void
limit_activations (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  const Setting *blamed
      = BLAME (resolved, ID_training_micro_batch, ID_training_seq_len, ID_training_encoder_seq_len,
               ID_model_layers, ID_model_hidden, ID_model_ffn_hidden, ID_model_heads,
               ID_model_head_dim, ID_model_vocab);

  if (blamed != NULL && activation_bytes_at_most (scenario) >= MOST_BYTES)
    check_note (
        problems, blamed, "%s",
        model_has_encoder (&scenario->model)
            ? "activations would pass 2^60 bytes; a smaller micro_batch, encoder_seq_len or "
              "seq_len would do"
            : "activations would pass 2^60 bytes; a smaller micro_batch or seq_len would do");
}

/* The largest of the given times. */
static KeyId
longest_timing (const TimingConfig *timing)
{
  static const KeyId ids[] = {
#define TIMING(key, what) ID_timing_##key,
#include "config/timing.def"
#undef TIMING
  };
  const gint64 times[] = {
#define TIMING(key, what) timing->key,
#include "config/timing.def"
#undef TIMING
  };
  guint longest = 0;

  for (guint i = 1; i < G_N_ELEMENTS (times); i++)
    if (times[i] > times[longest])
      longest = i;
  return ids[longest];
}

/* What most of the time comes from. */
static const Setting *
blame_for_time (const Resolved *resolved, const Scenario *scenario)
{
  double compute = compute_seconds_at_most (scenario) * slowness_at_most (&scenario->simulation);
  double network
      = collective_seconds_at_most (scenario) * degradation_at_most (&scenario->simulation);

  if (host_and_given_seconds_at_most (scenario) > MAX (compute, network))
    return BLAME (resolved, longest_timing (&scenario->timing), ID_training_grad_accum,
                  ID_simulation_steps, ID_simulation_warmup_steps, ID_model_layers);
  if (network > compute)
    return BLAME (resolved, ID_cluster_nodes, ID_cluster_ring_bandwidth, ID_cluster_nic_bandwidth,
                  ID_training_grad_accum, ID_simulation_steps, ID_simulation_warmup_steps,
                  ID_model_layers);
  return BLAME (resolved, ID_training_micro_batch, ID_training_seq_len, ID_training_encoder_seq_len,
                ID_training_grad_accum, ID_simulation_steps, ID_simulation_warmup_steps,
                ID_simulation_straggler, ID_model_layers, ID_gpu_matmul_flops, ID_gpu_fp32_flops,
                ID_gpu_memory_bandwidth);
}

/* FALSE, and a problem, where the run is too long. */
static gboolean
limit_time (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  double days = seconds_at_most (scenario) / 86400;
  const Setting *blamed;
  g_autofree char *message = NULL;

  if (days <= MOST_DAYS)
    return TRUE;
  blamed = blame_for_time (resolved, scenario);
  g_assert (blamed != NULL);
  message
      = g_strdup_printf ("the run may last %.3g days of simulated time; up to %d would do: fewer "
                         "steps, tokens or layers, or faster hardware",
                         days, MOST_DAYS);
  check_note (problems, blamed, "%s", message);
  return FALSE;
}

/* A kernel's time is cut off at 10,000 s (cost/run.c), which no block's passes may come near. */
static void
limit_block_time (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  const Setting *blamed
      = BLAME (resolved, ID_training_micro_batch, ID_training_seq_len, ID_training_encoder_seq_len,
               ID_model_layers, ID_model_hidden, ID_model_ffn_hidden, ID_model_heads,
               ID_gpu_matmul_flops, ID_gpu_fp32_flops, ID_gpu_memory_bandwidth);
  const GpuConfig *gpu = &scenario->gpu;
  double peak = scenario->fsdp.param_dtype == DTYPE_FP32 ? gpu->fp32_flops : gpu->matmul_flops;
  double hours = compute_seconds_at_most (scenario) / scenario->model.layers / 3600
                 * MIN (gpu->matmul_flops, gpu->fp32_flops) / peak;
  g_autofree char *message = NULL;

  if (hours <= MOST_BLOCK_HOURS)
    return;
  message = g_strdup_printf ("a block's forward and backward may take %.4g hours of simulated "
                             "time; up to %.3g would do: fewer tokens, or faster hardware",
                             hours, MOST_BLOCK_HOURS);
  check_note (problems, blamed, "%s", message);
}

void
check_limits (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  guint n_before = problems_count (problems);

  limit_ranks (resolved, scenario, problems);
  limit_tokens (resolved, scenario, problems);
  limit_block_passes (resolved, scenario, problems);
  limit_rank_passes (resolved, scenario, problems);
  limit_model (resolved, scenario, problems);
  limit_activations (resolved, scenario, problems);
  /* The rest reckons with all figures; with any of these broken it would only repeat them. */
  if (all_good (resolved) && problems_count (problems) == n_before
      && (scenario->cluster.nodes == 1
          || (scenario->cluster.nics_per_node > 0 && scenario->cluster.nic_bytes_per_s > 0)))
    if (limit_time (resolved, scenario, problems))
      limit_block_time (resolved, scenario, problems);
}
