/* What a data-parallel runtime hangs on the modules of a model. The step walks
 * through the model and calls these where PyTorch would; the runtime writes what
 * they make the host do. @unit is an index into Units. */
#pragma once

#include "config/keys.h"
#include "fsdp/writer.h"

typedef struct _Runtime Runtime;

typedef struct
{
  /* Streams, communicators, and the memory that stays: before the first step. */
  void (*load) (Runtime *runtime);
  void (*pre_forward) (Runtime *runtime, guint unit, gboolean grad_enabled);
  void (*post_forward) (Runtime *runtime, guint unit, gboolean grad_enabled);
  void (*pre_backward) (Runtime *runtime, guint unit);
  /* The unit's gradients are about to appear: memory for them, before its backward kernels. */
  void (*gradients_begin) (Runtime *runtime, guint unit);
  void (*post_backward) (Runtime *runtime, guint unit);
  /* A unit's post-backward waits for the gradients of its inputs; else for its parameters' alone.
   */
  gboolean waits_for_inputs;
  /* After loss.backward() of a micro-batch. */
  void (*end_of_backward) (Runtime *runtime);
  /* The group over which clip_grad_norm_() sums; FALSE or no hook: every rank has all gradients. */
  gboolean (*norm_communicator) (Runtime *runtime, CommunicatorId *communicator);
  /* optimizer.zero_grad (): drops the sharded gradients. */
  void (*zero_grad) (Runtime *runtime);
  void (*free) (Runtime *runtime);
} RuntimeHooks;

struct _Runtime
{
  const RuntimeHooks *hooks;
  Writer *writer;
  gboolean sync_gradients; /* FALSE inside no_sync() */
};

/* The hooks of a unit; nothing where @unit is UNIT_INDEX_NONE. */

static inline void
runtime_pre_forward (Runtime *runtime, guint unit, gboolean grad_enabled)
{
  if (unit != UNIT_INDEX_NONE)
    runtime->hooks->pre_forward (runtime, unit, grad_enabled);
}

static inline void
runtime_post_forward (Runtime *runtime, guint unit, gboolean grad_enabled)
{
  if (unit != UNIT_INDEX_NONE)
    runtime->hooks->post_forward (runtime, unit, grad_enabled);
}

static inline void
runtime_pre_backward (Runtime *runtime, guint unit)
{
  if (unit != UNIT_INDEX_NONE)
    runtime->hooks->pre_backward (runtime, unit);
}

static inline void
runtime_gradients_begin (Runtime *runtime, guint unit)
{
  if (unit != UNIT_INDEX_NONE)
    runtime->hooks->gradients_begin (runtime, unit);
}

static inline void
runtime_post_backward (Runtime *runtime, guint unit)
{
  if (unit != UNIT_INDEX_NONE)
    runtime->hooks->post_backward (runtime, unit);
}

/* The runtimes. */
Runtime *fsdp1_new (Writer *writer);
Runtime *fsdp2_new (Writer *writer);
Runtime *ddp_new (Writer *writer);

/* What PyTorch refuses or breaks on under each; FALSE and FSDP_ERROR. */
gboolean fsdp1_check (const Scenario *scenario, GError **error);
gboolean fsdp2_check (const Scenario *scenario, GError **error);
/* Always FALSE, with FSDP_ERROR of that code. */
gboolean fsdp_refuse (GError **error, KeyId key, const char *format, ...) G_GNUC_PRINTF (3, 4);
