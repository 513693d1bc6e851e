#include <config.h>

#include "config/stacks.h"

static const char *const names[] = { "encoder", "decoder", "encoder.first", "decoder.first" };

static ModelConfig
kind_of_stack (const ModelConfig *model, guint kind)
{
  ModelConfig of_stack = *model;

  of_stack.name = g_strdup (names[kind]);
  of_stack.stack = kind % N_STACKS == 0 ? STACK_ENCODER : STACK_DECODER;
  of_stack.kinds = NULL;
  of_stack.kind_of_block = NULL;
  if (kind >= N_STACKS) /* T5Attention's relative_attention_bias */
    of_stack.extra_parameters += (gint64)model->relative_positions * model->heads;
  return of_stack;
}

void
stacks_build (ModelConfig *model)
{
  const guint n = model->relative_positions > 0 ? 2 * N_STACKS : N_STACKS;

  model->kinds = g_new (ModelConfig, n);
  for (guint kind = 0; kind < n; kind++)
    model->kinds[kind] = kind_of_stack (model, kind);
  model->kind_of_block = g_new (guint8, MAX (model->layers, 1));
  for (guint block = 0; block < model->layers; block++)
    {
      const gboolean is_first = block == 0 || block == model->encoder_layers;
      const guint stack = block < model->encoder_layers ? 0 : 1;

      model->kind_of_block[block] = (guint8)(stack + (is_first && n > N_STACKS ? N_STACKS : 0));
    }
  model->n_kinds = n;
}
