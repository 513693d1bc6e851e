#include <config.h>

#include "config/numbered_list.h"

#include "config/value.h"

#define MOST_ITEMS  4096
#define MOST_NUMBER ((1 << 20) - 1)

/* "3:1.2" */
static gboolean
parse_item (const KeyInfo *key, const char *text, Numbered *item, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", 2);
  gint64 number;

  if (g_strv_length (parts) != 2)
    {
      g_set_error (error, UNITS_ERROR, UNITS_ERROR_SYNTAX, "'%.40s': expected %s", text,
                   key->value);
      return FALSE;
    }
  if (!units_parse_integer (UNIT_KIND_COUNT, g_strstrip (parts[0]), &number, error)
      || !units_parse_real (key->unit, g_strstrip (parts[1]), &item->value, error)
      || !value_in_range (key, parts[1], item->value, error))
    return FALSE;
  if (number > MOST_NUMBER)
    return units_refuse (UNITS_ERROR_RANGE, error, "number %.40s is too large", parts[0]);
  item->number = (guint)number;
  return TRUE;
}

static gint
compare_items (gconstpointer a, gconstpointer b)
{
  const Numbered *x = a, *y = b;

  return x->number < y->number ? -1 : x->number > y->number;
}

/* In the order of the numbers, so that the order of writing makes no difference. */
static gboolean
sort_items (GArray *items, GError **error)
{
  g_array_sort (items, compare_items);
  for (guint i = 1; i < items->len; i++)
    if (g_array_index (items, Numbered, i - 1).number == g_array_index (items, Numbered, i).number)
      return units_refuse (UNITS_ERROR_RANGE, error, "number %u is given twice",
                           g_array_index (items, Numbered, i).number);
  return TRUE;
}

gboolean
numbered_list_parse (const KeyInfo *key, const char *text, NumberedList *list, GError **error)
{
  g_auto (GStrv) texts = g_strsplit (text, ";", MOST_ITEMS + 1);
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (Numbered));

  if (g_strv_length (texts) > MOST_ITEMS)
    return units_refuse (UNITS_ERROR_RANGE, error, "more than %d of them", MOST_ITEMS);
  for (guint i = 0; texts[i] != NULL; i++)
    {
      Numbered item;

      /* Nothing behind the last ';'. */
      if (g_strstrip (texts[i])[0] == '\0' && texts[i + 1] == NULL)
        break;
      if (!parse_item (key, texts[i], &item, error))
        return FALSE;
      g_array_append_val (items, item);
    }
  if (!sort_items (items, error))
    return FALSE;
  g_free (list->items);
  list->n = items->len;
  list->items = (Numbered *)(void *)g_array_free (g_steal_pointer (&items), list->n == 0);
  return TRUE;
}

char *
numbered_list_canonical (const NumberedList *list)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < list->n; i++)
    {
      char value[G_ASCII_DTOSTR_BUF_SIZE];

      g_string_append_printf (text, "%u:%s;", list->items[i].number,
                              g_ascii_dtostr (value, sizeof value, list->items[i].value));
    }
  return g_string_free (text, FALSE);
}
