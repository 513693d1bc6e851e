#include <config.h>

#include "config/derive.h"
#include "config/block_kinds.h"
#include "config/stacks.h"
#include "config/value.h"

#include <string.h>

/* "auto" is the name of the source, and "custom" without one. */
static void
derive_name (char **name, const Setting *source)
{
  if (*name != NULL && strcmp (*name, "auto") != 0)
    return;
  g_free (*name);
  *name = source != NULL && source->text[0] != '\0' && strcmp (source->text, "auto") != 0
              ? source_title (source->text)
              : g_strdup ("custom");
}

/* Without a source it is PyTorch as its users write it. */
static void
derive_software_name (char **name, const Setting *source)
{
  gboolean plain = source == NULL || source->text[0] == '\0';

  if (plain && (*name == NULL || strcmp (*name, "auto") == 0))
    {
      g_free (*name);
      *name = g_strdup ("eager");
      return;
    }
  derive_name (name, source);
}

static void
derive_names (const Resolved *resolved, Scenario *scenario)
{
  const Setting *gpu = resolved->settings[ID_gpu_source];
  gboolean from_cluster = gpu == NULL || strcmp (gpu->text, "auto") == 0;

  derive_name (&scenario->model.name, resolved->settings[ID_model_source]);
  derive_name (&scenario->cluster.name, resolved->settings[ID_cluster_source]);
  derive_software_name (&scenario->software.name, resolved->settings[ID_software_source]);
  derive_name (&scenario->gpu.name, from_cluster ? resolved->settings[ID_cluster_gpu] : gpu);
}

static void
derive_kind (ModelConfig *model)
{
  if (model->kv_heads == AUTO_COUNT)
    model->kv_heads = model->heads;
  if (model->head_dim == AUTO_COUNT && model->heads > 0)
    model->head_dim = model->hidden / model->heads;
  if (model->value_head_dim == AUTO_COUNT)
    model->value_head_dim = model->head_dim;
  if (model->expert_hidden == AUTO_COUNT)
    model->expert_hidden = model->hidden;
  if (model->embedding_rows == AUTO_COUNT)
    model->embedding_rows = model->vocab;
  if (model->embedding_hidden == AUTO_COUNT)
    model->embedding_hidden = model->hidden;
}

/* A kind's auto follows from its own keys, so the kinds are made first. What is
 * wrong with them the checks say. */
static void
derive_model (Scenario *scenario)
{
  ModelConfig *model = &scenario->model;

  block_kinds_build (scenario, NULL);
  derive_kind (model);
  for (guint i = 0; i < model->n_kinds; i++)
    derive_kind (&model->kinds[i]);
  if (scenario->training.encoder_seq_len == AUTO_COUNT)
    scenario->training.encoder_seq_len = scenario->training.seq_len;
  if (model_has_encoder (model) && model->n_kinds == 0)
    stacks_build (model);
}

static gboolean
is_hybrid (const FsdpConfig *fsdp)
{
  return fsdp->api != API_DDP
         && (fsdp->strategy == STRATEGY_HYBRID_SHARD
             || fsdp->strategy == STRATEGY_HYBRID_SHARD_ZERO2);
}

/* A reshard group of one rank keeps all, of the whole shard group frees all. */
static void
derive_groups (Scenario *scenario)
{
  FsdpConfig *fsdp = &scenario->fsdp;

  if (!is_hybrid (fsdp))
    fsdp->shard_group_size = scenario_ranks (scenario);
  else if (fsdp->shard_group_size == AUTO_COUNT)
    fsdp->shard_group_size = scenario->cluster.gpus_per_node;
  if (fsdp->reshard_after_forward == 1)
    fsdp->reshard_after_forward = RESHARD_FALSE;
  else if (fsdp->reshard_after_forward > 1
           && (guint)fsdp->reshard_after_forward == fsdp->shard_group_size)
    fsdp->reshard_after_forward = RESHARD_TRUE;
}

/* FlashAttention 1 against 2, as fitted on A100 (docs/cost.md). */
#define FLASH1_TRITON_OF_FLASH2 0.67
#define FLASH1_OF_FLASH2        0.39

static void
derive_gpu (GpuConfig *gpu)
{
  if (gpu->flash1_triton_efficiency == AUTO_REAL)
    gpu->flash1_triton_efficiency = FLASH1_TRITON_OF_FLASH2 * gpu->attention_efficiency;
  if (gpu->flash1_efficiency == AUTO_REAL)
    gpu->flash1_efficiency = FLASH1_OF_FLASH2 * gpu->attention_efficiency;
}

/* Groups that are neither whole nodes nor equal parts of one do not all lie on them alike. What is
 * 0 here is a mistake that is told elsewhere. */
static gboolean
is_uneven (const Scenario *scenario)
{
  const FsdpConfig *fsdp = &scenario->fsdp;
  const guint per_node = scenario->cluster.gpus_per_node;
  const guint groups[] = { fsdp->shard_group_size, (guint)MAX (fsdp->reshard_after_forward, 1) };

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    if (groups[i] > 0 && per_node > 0 && groups[i] % per_node != 0 && per_node % groups[i] != 0)
      return TRUE;
  return FALSE;
}

static void
derive_simulation (Scenario *scenario)
{
  const GpuConfig *gpu = &scenario->gpu;
  SimulationConfig *simulation = &scenario->simulation;

  if (simulation->compute_slowdown == AUTO_REAL)
    simulation->compute_slowdown
        = simulation->engine == ENGINE_ONE_PASS ? 0 : gpu->compute_slowdown;
  if (simulation->compute_jitter > 0 || simulation->gpu_spread > 0 || simulation->stragglers.n > 0
      || simulation->degraded_links.n > 0 || simulation->late_hosts.n > 0 || is_uneven (scenario))
    simulation->ranks = RANKS_ALL;
}

static void
derive_cluster (ClusterConfig *cluster)
{
  cluster->efficiency[PROTOCOL_SIMPLE] = 1;
  if (cluster->reduce_copy_bytes_per_s == AUTO_REAL)
    cluster->reduce_copy_bytes_per_s = cluster->shard_copy_bytes_per_s;
  if (cluster->simple_reduce_step_ps == AUTO_WHOLE)
    cluster->simple_reduce_step_ps = cluster->step_ps[PROTOCOL_SIMPLE];
  if (cluster->nvls_ramp == AUTO_REAL)
    cluster->nvls_ramp = cluster->ramp / 2;
}

void
derive (const Resolved *resolved, Scenario *scenario)
{
  derive_names (resolved, scenario);
  derive_model (scenario);
  derive_groups (scenario);
  derive_gpu (&scenario->gpu);
  derive_simulation (scenario);
  derive_cluster (&scenario->cluster);
}
