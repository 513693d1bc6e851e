#include <config.h>

#include "config/lora.h"

#include "config/suggest.h"
#include "config/units.h"

#include <string.h>

static const char all_linear[] = "all-linear";
/* In the order of the bits; the last stands for all of them. */
static const char *const words[] = { "q_proj",  "k_proj",    "v_proj",   "o_proj", "gate_proj",
                                     "up_proj", "down_proj", all_linear, NULL };

#define N_TARGETS (G_N_ELEMENTS (words) - 2)
#define ALL       ((1u << N_TARGETS) - 1)

static guint
targets_of_word (const char *word, GError **error)
{
  g_autofree char *clause = NULL;

  for (guint i = 0; i < N_TARGETS; i++)
    if (strcmp (word, words[i]) == 0)
      return 1u << i;
  if (strcmp (word, all_linear) == 0)
    return ALL;
  clause = suggest_clause (word, words);
  units_refuse (UNITS_ERROR_SYNTAX, error, "unknown module '%.40s'%s", word, clause);
  return 0;
}

gboolean
lora_targets_parse (const char *text, guint *targets, GError **error)
{
  g_auto (GStrv) parts = g_strsplit_set (text, ", ", -1);
  guint found = 0;

  for (guint i = 0; parts[i] != NULL; i++)
    {
      guint some = parts[i][0] == '\0' ? found : targets_of_word (parts[i], error);

      if (parts[i][0] != '\0' && some == 0)
        return FALSE;
      found |= some;
    }
  if (found == 0)
    return units_refuse (
        UNITS_ERROR_SYNTAX, error,
        "no value; names of modules such as q_proj v_proj, or all-linear, would do");
  *targets = found;
  return TRUE;
}

char *
lora_targets_format (guint targets)
{
  GString *text = g_string_new (NULL);

  if (targets == ALL)
    g_string_append (text, all_linear);
  for (guint i = 0; targets != ALL && i < N_TARGETS; i++)
    if (targets & 1u << i)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", words[i]);
  return g_string_free (text, FALSE);
}

/* ---- matrices ---- */

typedef struct
{
  guint targets;
  LoraMatrix *matrices;
  guint n;
} List;

static void
append (List *list, guint any_of, guint in, guint out)
{
  if (list->targets & any_of)
    list->matrices[list->n++] = (LoraMatrix){ .in = in, .out = out };
}

static void
append_attention (List *list, const ModelConfig *kind)
{
  guint value_head_dim = kind->value_head_dim > 0 ? kind->value_head_dim : kind->head_dim;
  guint queries = kind->heads * kind->head_dim;
  guint keys = kind->kv_heads * kind->head_dim;
  guint values = kind->keys_as_values ? 0 : kind->kv_heads * value_head_dim;

  if (model_has_one_qkv (kind))
    append (list, LORA_QKV, kind->hidden, queries + keys + values);
  else
    {
      append (list, LORA_QUERY, kind->hidden, queries);
      append (list, LORA_KEY, kind->hidden, keys);
      if (values > 0)
        append (list, LORA_VALUE, kind->hidden, values);
    }
  append (list, LORA_OUTPUT, kind->heads * value_head_dim, kind->hidden);
}

guint
lora_list_matrices (const ModelConfig *kind, guint targets, LoraMatrix matrices[LORA_MOST_MATRICES])
{
  List list = { .targets = targets, .matrices = matrices };

  G_STATIC_ASSERT (LORA_MOST_MATRICES == N_TARGETS);
  if (kind->heads > 0)
    append_attention (&list, kind);
  if (kind->ffn_hidden == 0)
    return list.n;
  if (kind->gated_ffn)
    append (&list, LORA_GATE, kind->hidden, kind->ffn_hidden);
  append (&list, LORA_UP, kind->hidden, kind->ffn_hidden);
  append (&list, LORA_DOWN, kind->ffn_hidden, kind->hidden);
  return list.n;
}
