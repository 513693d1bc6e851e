#include <config.h>

#include "config/block_kinds.h"
#include "config/suggest.h"
#include "config/value.h"

#include <string.h>

#define MOST_REPEATS 10000 /* as many as a model has blocks */
#define MOST_ITEMS   10000

static const KeyId block_keys[] = {
  ID_model_heads,
  ID_model_kv_heads,
  ID_model_head_dim,
  ID_model_value_head_dim,
  ID_model_keys_as_values,
  ID_model_attention_bias,
  ID_model_qk_norm,
  ID_model_sliding_window,
  ID_model_kv_lora_rank,
  ID_model_q_lora_rank,
  ID_model_rope_head_dim,
  ID_model_ffn_hidden,
  ID_model_gated_ffn,
  ID_model_mlp_bias,
  ID_model_experts,
  ID_model_experts_per_token,
  ID_model_expert_hidden,
  ID_model_shared_ffn_hidden,
  ID_model_router_bias,
  ID_model_parallel_block,
  ID_model_norm_placement,
  ID_model_extra_matmul_parameters,
  ID_model_extra_parameters,
};

gboolean
block_kinds_is_block_key (KeyId id)
{
  for (guint i = 0; i < G_N_ELEMENTS (block_keys); i++)
    if (block_keys[i] == id)
      return TRUE;
  return FALSE;
}

/* ---- one kind ---- */

static const KeyInfo *
find_block_key (const char *name, GError **error)
{
  const char *names[G_N_ELEMENTS (block_keys) + 1] = { 0 };
  g_autofree char *clause = NULL;
  guint n;
  const KeyInfo *keys = keys_list (&n);

  for (guint i = 0; i < G_N_ELEMENTS (block_keys); i++)
    {
      names[i] = keys[block_keys[i]].key;
      if (strcmp (names[i], name) == 0)
        return &keys[block_keys[i]];
    }
  clause = suggest_clause (name, names);
  if (keys_find ("model", name) != NULL)
    units_refuse (UNITS_ERROR_SYNTAX, error, "%s is the same for all blocks", name);
  else
    units_refuse (UNITS_ERROR_SYNTAX, error, "unknown key '%.40s' of a block%s", name, clause);
  return NULL;
}

/* "KEY=VALUE" */
static gboolean
store_pair (const char *pair, Scenario *scenario, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (pair, "=", 2);
  const KeyInfo *key;

  if (parts[1] == NULL)
    return units_refuse (UNITS_ERROR_SYNTAX, error, "'%.40s': expected KEY=VALUE", pair);
  key = find_block_key (parts[0], error);
  if (key == NULL)
    return FALSE;
  if (value_store (key, parts[1], scenario, error))
    return TRUE;
  g_prefix_error (error, "%s: ", key->key);
  return FALSE;
}

static gboolean
is_kind_name (const char *name)
{
  if (!g_ascii_isalpha (name[0]))
    return FALSE;
  for (const char *at = name; *at != '\0'; at++)
    if (!g_ascii_isalnum (*at) && strchr ("_-+.", *at) == NULL)
      return FALSE;
  return TRUE;
}

/* "NAME: KEY=VALUE KEY=VALUE" laid over @scenario's model. Takes @text apart;
 * *name points into it. */
static gboolean
store_kind (char *text, Scenario *scenario, const char **name, GError **error)
{
  char *colon = strchr (text, ':');
  g_auto (GStrv) pairs = NULL;

  if (colon == NULL)
    return units_refuse (UNITS_ERROR_SYNTAX, error, "'%.40s': expected NAME: KEY=VALUE KEY=VALUE",
                         g_strstrip (text));
  *colon = '\0';
  *name = g_strstrip (text);
  if (!is_kind_name (*name) || strcmp (*name, BLOCK_KIND_BASE) == 0)
    return units_refuse (UNITS_ERROR_SYNTAX, error,
                         "'%.40s' cannot be a kind's name; a word other than base would do", *name);
  pairs = g_strsplit_set (colon + 1, " \t", -1);
  for (guint i = 0; pairs[i] != NULL; i++)
    if (pairs[i][0] != '\0' && !store_pair (pairs[i], scenario, error))
      {
        g_prefix_error (error, "%s: ", *name);
        return FALSE;
      }
  return TRUE;
}

/* Lays each kind of @text over a copy of @base; their names, and models if asked for. */
static gboolean
read_kinds (const char *text, const Scenario *base, GPtrArray *names, GArray *models,
            GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ";", -1);

  for (guint i = 0; items[i] != NULL; i++)
    {
      Scenario scenario = *base;
      const char *name = NULL;

      if (g_strstrip (items[i])[0] == '\0')
        continue;
      if (!store_kind (items[i], &scenario, &name, error))
        return FALSE;
      if (g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        return units_refuse (UNITS_ERROR_SYNTAX, error, "the kind '%.40s' is given twice", name);
      if (names->len >= MOST_BLOCK_KINDS)
        return units_refuse (UNITS_ERROR_SYNTAX, error, "more than %d kinds of blocks",
                             MOST_BLOCK_KINDS - 1);
      g_ptr_array_add (names, g_strdup (name));
      g_array_append_val (models, scenario.model);
    }
  return TRUE;
}

static GPtrArray *
names_new (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (names, g_strdup (BLOCK_KIND_BASE));
  return names;
}

gboolean
block_kinds_check (const char *text, GError **error)
{
  const Scenario scenario = { 0 };
  g_autoptr (GPtrArray) names = names_new ();
  g_autoptr (GArray) models = g_array_new (FALSE, FALSE, sizeof (ModelConfig));

  return read_kinds (text, &scenario, names, models, error);
}

/* ---- the order ---- */

/* "3*dense" or "dense". */
static gboolean
read_item (const char *item, guint *repeats, const char **name, GError **error)
{
  const char *star = strchr (item, '*');
  g_autofree char *count = NULL;
  guint64 value = 1;

  *name = star != NULL ? star + 1 : item;
  count = star != NULL ? g_strndup (item, (gsize)(star - item)) : g_strdup ("1");
  if (!g_ascii_string_to_unsigned (count, 10, 1, MOST_REPEATS, &value, NULL)
      || !is_kind_name (*name))
    return units_refuse (UNITS_ERROR_SYNTAX, error,
                         "'%.40s': expected a kind's name, or COUNT*NAME", item);
  *repeats = (guint)value;
  return TRUE;
}

static gboolean
find_kind (const GPtrArray *names, const char *name, guint8 *kind, GError **error)
{
  g_autofree const char **words = g_new0 (const char *, names->len + 1);
  g_autofree char *clause = NULL;

  for (guint i = 0; i < names->len; i++)
    {
      words[i] = g_ptr_array_index (names, i);
      *kind = (guint8)i;
      if (strcmp (words[i], name) == 0)
        return TRUE;
    }
  clause = suggest_clause (name, words);
  return units_refuse (UNITS_ERROR_SYNTAX, error, "no kind of blocks '%.40s'%s", name, clause);
}

/* One round of the order as kinds, into @kinds (guint8), as far as @most blocks;
 * without @names only whether it can be read. */
static gboolean
read_order (const char *text, const GPtrArray *names, guint most, GArray *kinds, GError **error)
{
  g_auto (GStrv) items = g_strsplit_set (text, " \t", MOST_ITEMS);

  for (guint i = 0; items[i] != NULL; i++)
    {
      const char *name = NULL;
      guint repeats = 0;
      guint8 kind = 0;

      if (items[i][0] == '\0')
        continue;
      if (!read_item (items[i], &repeats, &name, error)
          || (names != NULL && !find_kind (names, name, &kind, error)))
        return FALSE;
      while (repeats-- > 0 && kinds->len < most)
        g_array_append_val (kinds, kind);
    }
  return TRUE;
}

gboolean
block_order_check (const char *text, GError **error)
{
  g_autoptr (GArray) kinds = g_array_new (FALSE, FALSE, sizeof (guint8));

  return read_order (text, NULL, 0, kinds, error);
}

/* ---- both together ---- */

void
block_kinds_clear_built (ModelConfig *model)
{
  for (guint i = 0; i < model->n_kinds; i++)
    g_free (model->kinds[i].name);
  g_clear_pointer (&model->kinds, g_free);
  g_clear_pointer (&model->kind_of_block, g_free);
  model->n_kinds = 0;
}

gboolean
block_kinds_build (Scenario *scenario, GError **error)
{
  ModelConfig *model = &scenario->model;
  g_autoptr (GPtrArray) names = names_new ();
  g_autoptr (GArray) models = g_array_new (FALSE, FALSE, sizeof (ModelConfig));
  g_autoptr (GArray) round = g_array_new (FALSE, FALSE, sizeof (guint8));

  block_kinds_clear_built (model);
  if (model->block_kinds == NULL || model->block_order == NULL)
    return TRUE;
  g_array_append_val (models, *model);
  if (!read_kinds (model->block_kinds, scenario, names, models, error)
      || !read_order (model->block_order, names, model->layers, round, error))
    return FALSE;
  if (models->len == 1 || round->len == 0)
    return TRUE;
  model->kind_of_block = g_new (guint8, MAX (model->layers, 1));
  for (guint i = 0; i < model->layers; i++)
    model->kind_of_block[i] = g_array_index (round, guint8, i % round->len);
  model->n_kinds = models->len;
  model->kinds = (ModelConfig *)g_array_free (g_steal_pointer (&models), FALSE);
  for (guint i = 0; i < model->n_kinds; i++)
    model->kinds[i].name = g_strdup (g_ptr_array_index (names, i));
  return TRUE;
}

void
block_kinds_clear (ModelConfig *model)
{
  block_kinds_clear_built (model);
  g_clear_pointer (&model->block_kinds, g_free);
  g_clear_pointer (&model->block_order, g_free);
}
