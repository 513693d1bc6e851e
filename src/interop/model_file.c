#include <config.h>

#include "interop/model_file.h"

#include <string.h>

#include "config/block_kinds.h"
#include "config/value.h"

/* A kind of block: the text of each key that it may differ in. */
typedef struct
{
  char *name;
  char *texts[N_KEYS]; /* NULL: no key of a block */
  guint n_blocks;
} Kind;

void
model_file_init (ModelFile *file)
{
  *file = (ModelFile){ .blocks = g_array_new (FALSE, TRUE, sizeof (ModelConfig)),
                       .labels = g_ptr_array_new () };
}

void
model_file_clear (ModelFile *file)
{
  g_array_unref (file->blocks);
  g_ptr_array_unref (file->labels);
}

void
model_file_add_blocks (ModelFile *file, const char *label, const ModelConfig *block, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_array_append_val (file->blocks, *block);
      g_ptr_array_add (file->labels, (gpointer)label);
    }
}

/* ---- keys as text ---- */

static gboolean
takes_auto (const KeyInfo *key)
{
  return key->standard != NULL && strcmp (key->standard, "auto") == 0;
}

static char *
value_text (const KeyInfo *key, const ModelConfig *model)
{
  Scenario scenario = { .model = *model };
  char *text = value_canonical (key, &scenario);
  gboolean is_true = g_strcmp0 (text, "1") == 0;

  if (key->type != KEY_FLAG && !(takes_auto (key) && g_strcmp0 (text, "0") == 0))
    return text;
  g_free (text);
  return g_strdup (key->type != KEY_FLAG ? "auto" : is_true ? "true" : "false");
}

static gboolean
is_figure (const KeyInfo *key)
{
  return strcmp (key->section, "model") == 0 && key->offset != KEY_HELD_NOWHERE
         && key->type != KEY_TEXT && key->type != KEY_BLOCK_KINDS && key->type != KEY_BLOCK_ORDER;
}

/* ---- kinds ---- */

static void
kind_clear (gpointer data)
{
  Kind *kind = data;

  g_free (kind->name);
  for (guint i = 0; i < N_KEYS; i++)
    g_free (kind->texts[i]);
}

static Kind
kind_of (const ModelConfig *block)
{
  Kind kind = { 0 };
  guint n;
  const KeyInfo *keys = keys_list (&n);

  for (guint i = 0; i < n; i++)
    if (block_kinds_is_block_key ((KeyId)i))
      kind.texts[i] = value_text (&keys[i], block);
  return kind;
}

static gboolean
same_kind (const Kind *a, const Kind *b)
{
  for (guint i = 0; i < N_KEYS; i++)
    if (g_strcmp0 (a->texts[i], b->texts[i]) != 0)
      return FALSE;
  return TRUE;
}

/* "moe", or where another kind is called so, "moe2". */
static char *
free_name (const GArray *kinds, const char *label)
{
  char *name = g_strdup (label);

  for (guint i = 0, number = 2; i < kinds->len; i++)
    if (strcmp (g_array_index (kinds, Kind, i).name, name) == 0)
      {
        g_free (name);
        name = g_strdup_printf ("%s%u", label, number++);
        i = 0;
      }
  return name;
}

static guint
add_kind (GArray *kinds, const ModelConfig *block, const char *label)
{
  Kind kind = kind_of (block);

  for (guint i = 0; i < kinds->len; i++)
    if (same_kind (&g_array_index (kinds, Kind, i), &kind))
      {
        kind_clear (&kind);
        return i;
      }
  kind.name = free_name (kinds, label);
  g_array_append_val (kinds, kind);
  return kinds->len - 1;
}

/* The kinds in the order in which they appear, and in @order (guint) that of each block. */
static GArray *
find_kinds (const ModelFile *file, GArray *order)
{
  GArray *kinds = g_array_new (FALSE, TRUE, sizeof (Kind));

  g_array_set_clear_func (kinds, kind_clear);
  for (guint i = 0; i < file->blocks->len; i++)
    {
      const ModelConfig *block = &g_array_index (file->blocks, ModelConfig, i);
      /* Blocks were zeroed whole. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
      gboolean same = i > 0 && memcmp (block, block - 1, sizeof *block) == 0;
      guint kind = same ? g_array_index (order, guint, i - 1)
                        : add_kind (kinds, block, g_ptr_array_index (file->labels, i));

      g_array_index (kinds, Kind, kind).n_blocks++;
      g_array_append_val (order, kind);
    }
  return kinds;
}

/* The most common one, of several the first, stands in the model's own keys. */
static guint
base_kind (const GArray *kinds)
{
  guint base = 0;

  for (guint i = 1; i < kinds->len; i++)
    if (g_array_index (kinds, Kind, i).n_blocks > g_array_index (kinds, Kind, base).n_blocks)
      base = i;
  return base;
}

/* ---- the text ---- */

static void
append_line (GString *out, const char *key, const char *value)
{
  if (value != NULL && value[0] != '\0')
    g_string_append_printf (out, "%s = %s\n", key, value);
}

static void
append_keys (GString *out, const ModelConfig *model, const Kind *base)
{
  guint n;
  const KeyInfo *keys = keys_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = NULL;

      if (!is_figure (&keys[i]))
        continue;
      text = base->texts[i] != NULL ? g_strdup (base->texts[i]) : value_text (&keys[i], model);
      if (keys[i].standard == NULL || strcmp (keys[i].standard, text) != 0)
        append_line (out, keys[i].key, text);
    }
}

/* "NAME: KEY=VALUE …" of what differs from the base. */
static void
append_kind (GString *out, const Kind *kind, const Kind *base)
{
  guint n;
  const KeyInfo *keys = keys_list (&n);

  g_string_append_printf (out, "%s%s:", out->len > 0 ? "; " : "", kind->name);
  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (kind->texts[i], base->texts[i]) != 0)
      g_string_append_printf (out, " %s=%s", keys[i].key, kind->texts[i]);
}

/* How many blocks until the order repeats itself. */
static guint
period_of (const GArray *order)
{
  guint period = 1;

  while (period < order->len
         && memcmp (order->data, order->data + period * sizeof (guint),
                    (order->len - period) * sizeof (guint))
                != 0)
    period++;
  return period;
}

static char *
order_text (const GArray *kinds, const GArray *order, guint base)
{
  GString *text = g_string_new (NULL);
  guint period = period_of (order);

  for (guint i = 0, next; i < period; i = next)
    {
      guint kind = g_array_index (order, guint, i);
      const char *name = kind == base ? BLOCK_KIND_BASE : g_array_index (kinds, Kind, kind).name;

      for (next = i + 1; next < period && g_array_index (order, guint, next) == kind;)
        next++;
      if (i > 0)
        g_string_append_c (text, ' ');
      if (next - i > 1)
        g_string_append_printf (text, "%u*", next - i);
      g_string_append (text, name);
    }
  return g_string_free (text, FALSE);
}

static void
append_kinds (GString *out, const GArray *kinds, const GArray *order, guint base)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *sequence = NULL;

  if (kinds->len < 2)
    return;
  for (guint i = 0; i < kinds->len; i++)
    if (i != base)
      append_kind (text, &g_array_index (kinds, Kind, i), &g_array_index (kinds, Kind, base));
  sequence = order_text (kinds, order, base);
  append_line (out, "block_kinds", text->str);
  append_line (out, "block_order", sequence);
}

char *
model_file_format (const ModelFile *file)
{
  GString *out = g_string_new ("[model]\n");
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) kinds = find_kinds (file, order);
  guint base = base_kind (kinds);

  append_line (out, "name", file->name);
  append_line (out, "title", file->title);
  append_line (out, "provenance", file->provenance);
  append_keys (out, &file->model, &g_array_index (kinds, Kind, base));
  append_kinds (out, kinds, order, base);
  return g_string_free (out, FALSE);
}
