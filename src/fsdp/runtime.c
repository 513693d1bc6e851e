#include <config.h>

#include "fsdp/runtime.h"
#include "fsdp/step.h"

G_DEFINE_QUARK (fsdpsim - fsdp - error - quark, fsdp_error)

gboolean
fsdp_refuse (GError **error, KeyId key, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (FSDP_ERROR, (gint)key, format, arguments));
  va_end (arguments);
  return FALSE;
}

/* What older releases have not, whatever the runtime. */
static gboolean
check_release (const Scenario *scenario, GError **error)
{
  if (scenario->fsdp.torch_minor >= 1)
    return TRUE;
  if (scenario->checkpoint.method != CHECKPOINT_NONE && scenario->checkpoint.select_op)
    return fsdp_refuse (
        error, ID_activation_checkpointing_select,
        "before torch 2.1, torch.utils.checkpoint has no context_fn by which ops are "
        "selected; use torch 2.1 or newer, or select = all");
  if (scenario->software.expandable_segments)
    return fsdp_refuse (error, ID_software_expandable_segments,
                        "before torch 2.1, expandable_segments is an unrecognized option of the "
                        "caching allocator (RuntimeError); use torch 2.1 or newer, or "
                        "expandable_segments = false");
  if (scenario->training.matmul_dtype != MATMUL_PARAM_DTYPE)
    return fsdp_refuse (
        error, ID_training_matmul_dtype,
        "before torch 2.1 there is no dtype of 8 bits (torch.float8_e4m3fn); use torch 2.1 or "
        "newer, or matmul_dtype = param_dtype");
  return TRUE;
}

gboolean
fsdp_check (const Scenario *scenario, GError **error)
{
  if (!check_release (scenario, error))
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

  if (!fsdp_check (scenario, error))
    return NULL;
  writer.program = program_new ();
  units_init (&writer.units, scenario, cost);
  Runtime *runtime = new_runtime (&writer);
  step_write_program (runtime);
  runtime->hooks->free (runtime);
  units_clear (&writer.units);
  return writer.program;
}
