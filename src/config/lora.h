/* Which matrices of a block LoRA's adapters stand beside (arXiv:2106.09685): W x becomes
 * W x + scaling * B (A x), A of rank x in and B of out x rank. Modules have the names that they
 * have in the transformers library's Llama, by which PEFT finds them. */
#pragma once

#include "config/scenario.h"

typedef enum
{
  LORA_QUERY = 1 << 0,
  LORA_KEY = 1 << 1,
  LORA_VALUE = 1 << 2,
  LORA_OUTPUT = 1 << 3,
  LORA_GATE = 1 << 4,
  LORA_UP = 1 << 5,
  LORA_DOWN = 1 << 6
} LoraTarget;

#define LORA_QKV (LORA_QUERY | LORA_KEY | LORA_VALUE)

/* "q_proj v_proj", with spaces or commas between, or "all-linear"; to a set of LoraTarget. */
gboolean lora_targets_parse (const char *text, guint *targets, GError **error);
/* The same text for all spellings of a set. The caller frees it. */
char *lora_targets_format (guint targets);

typedef struct
{
  guint in, out; /* features of the linear layer */
} LoraMatrix;

#define LORA_MOST_MATRICES 7

/* Those of a block of this kind that have adapters, in the order of its forward; their number. A
 * matrix for queries, keys and values together has them where one of the three is named. Experts
 * and latents have none (scenario_check refuses them). */
guint lora_list_matrices (const ModelConfig *kind, guint targets,
                          LoraMatrix matrices[LORA_MOST_MATRICES]);
