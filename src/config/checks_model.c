#include <config.h>

#include "config/checks.h"

#include <string.h>

#include "config/block_kinds.h"

/* Checks of one kind of blocks, which for most models is the only one. */
typedef struct
{
  const Resolved *resolved;
  const ModelConfig *model;
  const char *kind; /* NULL: the model itself */
  Problems *problems;
} KindCheck;

static void G_GNUC_PRINTF (3, 4)
    note (const KindCheck *check, const Setting *setting, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (check->kind != NULL)
    check_note (check->problems, setting, "blocks of the kind '%s': %s", check->kind, message);
  else
    check_note (check->problems, setting, "%s", message);
}

static gboolean
is_auto (const KindCheck *check, KeyId id)
{
  return strcmp (check->resolved->settings[id]->text, "auto") == 0;
}

static void
check_kv_heads (const KindCheck *check, const Setting *blamed)
{
  const ModelConfig *model = check->model;

  if (model->heads > 0 && model->heads % model->kv_heads != 0)
    note (check, blamed, "%u heads are not a multiple of %u kv_heads", model->heads,
          model->kv_heads);
}

static void
check_head_dim (const KindCheck *check, const Setting *blamed)
{
  const ModelConfig *model = check->model;

  if (model->heads == 0)
    return;
  if (model->head_dim == 0)
    note (check, blamed, "hidden %u is less than %u heads; head_dim would do", model->hidden,
          model->heads);
  else if (is_auto (check, ID_model_head_dim) && model->head_dim == model->hidden / model->heads
           && model->hidden % model->heads != 0)
    note (check, blamed, "hidden %u is not a multiple of %u heads; give head_dim if it is meant so",
          model->hidden, model->heads);
}

static void
check_latent (const KindCheck *check, const Setting *blamed)
{
  const ModelConfig *model = check->model;

  if (model->kv_lora_rank == 0 && (model->q_lora_rank > 0 || model->rope_head_dim > 0))
    note (check, blamed, "q_lora_rank and rope_head_dim mean nothing without kv_lora_rank");
  else if (model->kv_lora_rank > 0 && model->heads > 0 && model->rope_head_dim >= model->head_dim)
    note (check, blamed, "rope_head_dim %u leaves nothing of head_dim %u", model->rope_head_dim,
          model->head_dim);
}

static void
check_experts (const KindCheck *check, const Setting *blamed)
{
  const ModelConfig *model = check->model;

  if (model->experts == 0)
    return;
  if (model->ffn_hidden == 0)
    note (check, blamed, "%u experts but ffn_hidden is 0; their inner width would do",
          model->experts);
  else if (model->experts_per_token == 0 || model->experts_per_token > model->experts)
    note (check, blamed, "experts_per_token is %u; 1 to the %u experts would do",
          model->experts_per_token, model->experts);
}

typedef void (*CheckPart) (const KindCheck *check, const Setting *blamed);

/* What stands in block_kinds is to blame for what is wrong with a kind. */
static void
check_part (const KindCheck *check, const Setting *blamed, CheckPart part)
{
  if (blamed != NULL)
    part (check, check->kind != NULL ? check->resolved->settings[ID_model_block_kinds] : blamed);
}

static void
check_kind (const KindCheck *check)
{
  check_part (check, BLAME (check->resolved, ID_model_heads, ID_model_kv_heads), check_kv_heads);
  check_part (check, BLAME (check->resolved, ID_model_hidden, ID_model_heads, ID_model_head_dim),
              check_head_dim);
  check_part (check,
              BLAME (check->resolved, ID_model_hidden, ID_model_heads, ID_model_head_dim,
                     ID_model_kv_lora_rank, ID_model_q_lora_rank, ID_model_rope_head_dim),
              check_latent);
  check_part (
      check,
      BLAME (check->resolved, ID_model_ffn_hidden, ID_model_experts, ID_model_experts_per_token),
      check_experts);
}

/* Kinds that no order names, and an order that names what there is not. */
static void
check_kinds (const KindCheck *check, const Scenario *scenario)
{
  const Setting *blamed
      = BLAME (check->resolved, ID_model_layers, ID_model_block_kinds, ID_model_block_order);
  Scenario copy = *scenario;
  g_autoptr (GError) error = NULL;

  if (blamed == NULL)
    return;
  copy.model.kinds = NULL;
  copy.model.kind_of_block = NULL;
  copy.model.n_kinds = 0;
  if (!block_kinds_build (&copy, &error))
    note (check, check->resolved->settings[ID_model_block_order], "%s", error->message);
  else if ((copy.model.block_kinds[0] == '\0') != (copy.model.block_order[0] == '\0'))
    note (check, blamed, "block_kinds and block_order go together; one of them is not given");
  block_kinds_clear_built (&copy.model);
}

void
check_model (const Resolved *resolved, const Scenario *scenario, Problems *problems)
{
  KindCheck check = { .resolved = resolved, .model = &scenario->model, .problems = problems };

  check_kind (&check);
  check_kinds (&check, scenario);
  if (model_has_encoder (&scenario->model))
    return; /* its kinds are as the model says */
  for (guint i = 1; i < scenario->model.n_kinds; i++)
    {
      check.model = &scenario->model.kinds[i];
      check.kind = check.model->name;
      check_kind (&check);
    }
}
