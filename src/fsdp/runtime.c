#include <config.h>

#include "fsdp/runtime.h"
#include "fsdp/step.h"

G_DEFINE_QUARK (fsdpsim - fsdp - error - quark, fsdp_error)

/* By context_fn, which torch.utils.checkpoint has from 2.1 on. */
static gboolean
check_select (const Scenario *scenario, GError **error)
{
  if (scenario->checkpoint.method == CHECKPOINT_NONE || !scenario->checkpoint.select_op
      || scenario->fsdp.torch_minor >= 1)
    return TRUE;
  g_set_error_literal (
      error, FSDP_ERROR, FSDP_ERROR_REFUSED,
      "before torch 2.1, torch.utils.checkpoint has no context_fn by which ops are "
      "selected; use torch 2.1 or newer, or select = all");
  return FALSE;
}

/* Older caching allocators take no option that they do not know. */
static gboolean
check_allocator (const Scenario *scenario, GError **error)
{
  if (!scenario->software.expandable_segments || scenario->fsdp.torch_minor >= 1)
    return TRUE;
  g_set_error_literal (error, FSDP_ERROR, FSDP_ERROR_REFUSED,
                       "before torch 2.1, expandable_segments is an unrecognized option of the "
                       "caching allocator (RuntimeError); use torch 2.1 or newer, or "
                       "expandable_segments = false");
  return FALSE;
}

static gboolean
check (const Scenario *scenario, GError **error)
{
  if (!check_select (scenario, error) || !check_allocator (scenario, error))
    return FALSE;
  switch (scenario->fsdp.api)
    {
    case API_FSDP1:
      return fsdp1_check (scenario, error);
    case API_FSDP2:
      return fsdp2_check (scenario, error);
    case API_DDP:
      return TRUE;
    }
  g_assert_not_reached ();
}

static Runtime *
new_runtime (Writer *writer)
{
  switch (writer->scenario->fsdp.api)
    {
    case API_FSDP1:
      return fsdp1_new (writer);
    case API_FSDP2:
      return fsdp2_new (writer);
    case API_DDP:
      return ddp_new (writer);
    }
  g_assert_not_reached ();
}

Program *
fsdp_program (const Scenario *scenario, const StepCost *cost, GError **error)
{
  Writer writer = { .scenario = scenario, .cost = cost };

  if (!check (scenario, error))
    return NULL;
  writer.program = program_new ();
  units_init (&writer.units, scenario, cost);
  Runtime *runtime = new_runtime (&writer);
  step_write_program (runtime);
  runtime->hooks->free (runtime);
  units_clear (&writer.units);
  return writer.program;
}
