#include <config.h>

#include "config/value_list.h"
#include "config/layer.h"

#include <math.h>
#include <string.h>

/* A step of 0.1 is no binary number: the last value counts if it is met so nearly. */
#define NEARLY 1e-9

/* What is between two commas. */
typedef struct
{
  const KeyInfo *key;
  const char *text; /* without white space around it */
  Place place;
  GPtrArray *values;
  Problems *problems;
} Item;

typedef struct
{
  double first, last, step;
  gboolean multiplies;
  const char *unit; /* what all are written in; NULL: in the base unit, to be written anew */
} Range;

static gboolean G_GNUC_PRINTF (2, 3) refuse (const Item *item, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  problems_add (item->problems, &item->place, item->key->section, item->key->key, "%s", message);
  return FALSE;
}

static gboolean
takes_ranges (const KeyInfo *key)
{
  return key->type == KEY_COUNT || key->type == KEY_WHOLE || key->type == KEY_REAL
         || key->type == KEY_RESHARD;
}

/* ---- the parts of a range ---- */

/* The '*' or '+' before the step; not the '+' of an exponent. NULL: none. */
static char *
find_step (char *text)
{
  for (char *at = text + strlen (text); at-- > text;)
    if (*at == '*' || (*at == '+' && at > text && at[-1] != 'e' && at[-1] != 'E'))
      return at;
  return NULL;
}

static const char *
unit_of (const char *text)
{
  const char *at = text + strspn (text, "0123456789.");

  if (*at == 'e' || *at == 'E')
    at += 1 + strspn (at + 1, "+-0123456789");
  return at + strspn (at, " \t");
}

static gboolean
read_number (const Item *item, UnitKind kind, const char *text, double *value)
{
  g_autoptr (GError) error = NULL;
  gint64 whole;

  if (kind == UNIT_KIND_COUNT ? units_parse_integer (kind, text, &whole, &error)
                              : units_parse_real (kind, text, value, &error))
    {
      if (kind == UNIT_KIND_COUNT)
        *value = (double)whole;
      return TRUE;
    }
  return refuse (item, "'%.40s' in a range: %s", text, error->message);
}

static gboolean
read_step (const Item *item, const char *step, Range *range)
{
  range->multiplies = step != NULL && *step == '*';
  if (step == NULL && item->key->unit != UNIT_KIND_COUNT)
    return refuse (item,
                   "a range with a unit needs a step: FIRST..LAST+STEP or FIRST..LAST*FACTOR");
  if (step == NULL)
    range->step = 1;
  else if (!read_number (item, range->multiplies ? UNIT_KIND_NUMBER : item->key->unit, step + 1,
                         &range->step))
    return FALSE;
  if (range->multiplies && (range->step <= 1 || range->first <= 0))
    return refuse (item,
                   "a range that multiplies needs a factor above 1 and a first value above 0");
  if (!range->multiplies && range->step <= 0)
    return refuse (item, "a range needs a step above 0");
  return TRUE;
}

/* Where all parts have the same unit, the values keep it. */
static void
keep_unit (UnitKind kind, const char *first, const char *last, const char *step, Range *range)
{
  const char *unit = unit_of (first);
  gboolean step_agrees
      = step == NULL || range->multiplies || strcmp (unit_of (step + 1), unit) == 0;

  if (kind == UNIT_KIND_COUNT || strcmp (unit_of (last), unit) != 0 || !step_agrees)
    return;
  range->unit = unit;
  range->first = g_ascii_strtod (first, NULL);
  range->last = g_ascii_strtod (last, NULL);
  if (step != NULL)
    range->step = g_ascii_strtod (step + 1, NULL);
}

/* ---- its values ---- */

static double
nth_value (const Range *range, guint n)
{
  if (range->multiplies)
    return range->first * pow (range->step, n);
  return range->first + n * range->step;
}

static char *
write_value (const KeyInfo *key, const Range *range, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (range->unit == NULL)
    return units_format (key->unit, value);
  g_ascii_formatd (number, sizeof number, "%.14g", value);
  return g_strconcat (number, range->unit, NULL);
}

static gboolean
add_value (const Item *item, char *value)
{
  g_ptr_array_add (item->values, value);
  if (item->values->len > VALUE_LIST_MOST)
    return refuse (item, "more than %d values", VALUE_LIST_MOST);
  return layer_check_value (item->key, value, &item->place, item->problems);
}

/* @first is cut up. */
static gboolean
add_range (const Item *item, char *first, char *dots)
{
  char *last = dots + strlen ("..");
  char *step = find_step (last);
  g_autofree char *step_text = g_strdup (step);
  Range range = { 0 };

  if (!takes_ranges (item->key))
    return refuse (item, "%s.%s takes no ranges; a list such as A,B would do", item->key->section,
                   item->key->key);
  *dots = '\0';
  if (step != NULL)
    *step = '\0';
  if (!read_number (item, item->key->unit, first, &range.first)
      || !read_number (item, item->key->unit, last, &range.last)
      || !read_step (item, step_text, &range))
    return FALSE;
  keep_unit (item->key->unit, first, last, step_text, &range);
  if (range.first > range.last)
    return refuse (item, "a range goes up; %s is above %s", first, last);
  for (guint n = 0; nth_value (&range, n) <= range.last * (1 + NEARLY); n++)
    if (!add_value (item, write_value (item->key, &range, nth_value (&range, n))))
      return FALSE;
  return TRUE;
}

static gboolean
add_item (const Item *item)
{
  g_autofree char *text = g_strdup (item->text);
  char *dots = strstr (text, "..");

  if (text[0] == '\0' && item->key->type != KEY_NUMBERED)
    return refuse (item, "an empty value in the list");
  if (dots != NULL && (takes_ranges (item->key) || item->key->type == KEY_CHOICE))
    return add_range (item, text, dots);
  return add_value (item, g_steal_pointer (&text));
}

gboolean
value_list_read (const KeyInfo *key, const char *text, const Place *place, GPtrArray *values,
                 Problems *problems)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  guint column = place->column;
  gboolean good = TRUE;

  if (parts[0] == NULL)
    problems_add (problems, place, key->section, key->key,
                  "no values; expected a list such as 1,2,4");
  for (guint i = 0; parts[i] != NULL && !problems_are_enough (problems); i++)
    {
      Item item = { key, parts[i], *place, values, problems };

      item.place.column = column + (guint)strspn (parts[i], " \t");
      column += (guint)strlen (parts[i]) + 1;
      g_strstrip (parts[i]);
      good &= add_item (&item);
    }
  return good && parts[0] != NULL;
}
