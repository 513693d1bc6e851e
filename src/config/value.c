#include <config.h>

#include "config/value.h"

#include "config/block_kinds.h"
#include "config/lora.h"
#include "config/numbered_list.h"
#include "config/suggest.h"

#include <string.h>

#define MEMBER(type, scenario, key) G_STRUCT_MEMBER (type, scenario, (key)->offset)

static gboolean
takes_auto (const KeyInfo *key)
{
  return key->standard != NULL && strcmp (key->standard, "auto") == 0;
}

gboolean
value_in_range (const KeyInfo *key, const char *text, double value, GError **error)
{
  g_autofree char *least = NULL;
  g_autofree char *most = NULL;

  if (value >= key->minimum && value <= key->maximum)
    return TRUE;
  least = units_format (key->unit, key->minimum);
  most = units_format (key->unit, key->maximum);
  return units_refuse (UNITS_ERROR_RANGE, error, "'%.40s' is out of range; %s to %s would do", text,
                       least, most);
}

static gboolean
parse_whole (const KeyInfo *key, const char *text, gint64 *value, GError **error)
{
  gint64 parsed;

  if (!units_parse_integer (key->unit, text, &parsed, error)
      || !value_in_range (key, text, (double)parsed, error))
    return FALSE;
  *value = parsed;
  return TRUE;
}

static gboolean
store_text (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    if (g_unichar_iscntrl (g_utf8_get_char (at)))
      return units_refuse (UNITS_ERROR_SYNTAX, error, "a control character; expected text");
  if (key->offset == KEY_HELD_NOWHERE)
    return TRUE;
  g_free (MEMBER (char *, scenario, key));
  MEMBER (char *, scenario, key) = g_strdup (text);
  return TRUE;
}

static gboolean
store_count (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  gint64 value = AUTO_COUNT;
  gboolean is_auto = takes_auto (key) && strcmp (text, "auto") == 0;

  if (!is_auto && !parse_whole (key, text, &value, error))
    return FALSE;
  MEMBER (guint, scenario, key) = (guint)value;
  return TRUE;
}

static gboolean
store_whole (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  gint64 value = AUTO_WHOLE;
  gboolean is_auto = takes_auto (key) && strcmp (text, "auto") == 0;

  if (!is_auto && !parse_whole (key, text, &value, error))
    return FALSE;
  MEMBER (gint64, scenario, key) = value;
  return TRUE;
}

static gboolean
store_real (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  double value = AUTO_REAL;
  gboolean is_auto = takes_auto (key) && strcmp (text, "auto") == 0;

  if (!is_auto
      && (!units_parse_real (key->unit, text, &value, error)
          || !value_in_range (key, text, value, error)))
    return FALSE;
  MEMBER (double, scenario, key) = value;
  return TRUE;
}

/* The index of @text in @words, or -1 with a message. */
static int
find_word (const char *text, const char *const *words, GError **error)
{
  g_autofree char *clause = NULL;

  for (int i = 0; words[i] != NULL; i++)
    if (strcmp (words[i], text) == 0)
      return i;
  clause = suggest_clause (text, words);
  if (text[0] == '\0')
    units_refuse (UNITS_ERROR_SYNTAX, error, "no value%s", clause);
  else
    units_refuse (UNITS_ERROR_SYNTAX, error, "unknown value '%.40s'%s", text, clause);
  return -1;
}

static gboolean
store_flag (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  static const char *const words[] = { "false", "true", NULL };
  int value = find_word (text, words, error);

  if (value < 0)
    return FALSE;
  MEMBER (gboolean, scenario, key) = value;
  return TRUE;
}

/* All enumerations are ints to the compiler's ABI, as gboolean is. */
static gboolean
store_choice (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  int value = find_word (text, key->words, error);

  G_STATIC_ASSERT (sizeof (FsdpApi) == sizeof (int));
  if (value < 0)
    return FALSE;
  memcpy (G_STRUCT_MEMBER_P (scenario, key->offset), &value, sizeof value);
  return TRUE;
}

/* "2.8", "2.7.1", "2.8.0+cu126", "2.9.0.dev20250901", "2.10.0a0+git1f2e3d4": two or
 * three numbers, then at most what PEP 440 lets follow them. */
static gboolean
is_version (const char *text)
{
  return g_regex_match_simple (
      "^[0-9]+\\.[0-9]+(\\.[0-9]+)?((a|b|rc)[0-9]+)?(\\.(post|dev)[0-9]+)*(\\+[A-Za-z0-9.]+)?$",
      text, G_REGEX_DOLLAR_ENDONLY, 0);
}

/* The minor version counts. */
static gboolean
store_torch (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  gint64 minor;

  if (!is_version (text))
    return units_refuse (UNITS_ERROR_SYNTAX, error,
                         "'%.40s' is no version; expected one such as 2.8 or 2.7.1", text);
  minor = g_ascii_strtoll (strchr (text, '.') + 1, NULL, 10);
  if (g_ascii_strtoll (text, NULL, 10) != 2 || minor > (gint64)key->maximum)
    return units_refuse (UNITS_ERROR_RANGE, error,
                         "torch %.40s is not known; 2.0 to 2.%.0f would do", text, key->maximum);
  MEMBER (guint, scenario, key) = (guint)minor;
  return TRUE;
}

static gboolean
store_reshard (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  static const char *const words[] = { "auto", "true", "all_but_last", "false", NULL };
  static const int values[] = { RESHARD_AUTO, RESHARD_TRUE, RESHARD_ALL_BUT_LAST, RESHARD_FALSE };
  gint64 ranks;
  int word;

  if (g_ascii_isdigit (text[0]))
    {
      if (!parse_whole (key, text, &ranks, error))
        return FALSE;
      MEMBER (gint, scenario, key) = (gint)ranks;
      return TRUE;
    }
  word = find_word (text, words, error);
  if (word < 0)
    {
      if (error != NULL)
        g_prefix_error (error, "expected a group size or a word: ");
      return FALSE;
    }
  MEMBER (gint, scenario, key) = values[word];
  return TRUE;
}

/* Which of @words it is, of which the last stands for a number: "every:K" for every:2 and the like,
 * whose number goes to *number; -1 with an error where it is none. */
static int
find_word_or_number (const KeyInfo *key, const char *text, const char *const *words, gint64 *number,
                     GError **error)
{
  const int numbered = (int)g_strv_length ((char **)words) - 1;
  const char *pattern = words[numbered];
  const gsize prefix = strlen (pattern) - strlen ("K");
  int word;

  if (strncmp (text, pattern, prefix) == 0 && strcmp (text, pattern) != 0)
    return parse_whole (key, text + prefix, number, error) ? numbered : -1;
  word = find_word (text, words, error);
  if (word != numbered)
    return word;
  units_refuse (UNITS_ERROR_SYNTAX, error, "expected a number for K, such as %.*s2", (int)prefix,
                pattern);
  return -1;
}

static gboolean
store_select (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  static const char *const words[] = { "all", "op", "children", "every:K", NULL };
  CheckpointConfig *checkpoint = &scenario->checkpoint;
  gint64 every = 1;
  const int word = find_word_or_number (key, text, words, &every, error);

  if (word < 0)
    return FALSE;
  checkpoint->every = (guint)every;
  checkpoint->select_op = word == 1;
  checkpoint->select_children = word == 2;
  return TRUE;
}

static gboolean
store_trainable (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  static const char *const words[] = { "all", "lora", "head", "last:K", NULL };
  static const Trainable values[]
      = { TRAINABLE_ALL, TRAINABLE_LORA, TRAINABLE_LAST, TRAINABLE_LAST };
  gint64 last = 0;
  const int word = find_word_or_number (key, text, words, &last, error);

  if (word < 0)
    return FALSE;
  scenario->training.trainable = values[word];
  scenario->training.trained_blocks = (guint)last;
  return TRUE;
}

static gboolean
store_blocks (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  gboolean good = key->type == KEY_BLOCK_KINDS ? block_kinds_check (text, error)
                                               : block_order_check (text, error);

  if (!good)
    return FALSE;
  g_free (MEMBER (char *, scenario, key));
  MEMBER (char *, scenario, key) = g_strdup (text);
  return TRUE;
}

gboolean
value_store (const KeyInfo *key, const char *text, Scenario *scenario, GError **error)
{
  switch (key->type)
    {
    case KEY_TEXT:
      return store_text (key, text, scenario, error);
    case KEY_COUNT:
      return store_count (key, text, scenario, error);
    case KEY_WHOLE:
      return store_whole (key, text, scenario, error);
    case KEY_REAL:
      return store_real (key, text, scenario, error);
    case KEY_FLAG:
      return store_flag (key, text, scenario, error);
    case KEY_CHOICE:
      return store_choice (key, text, scenario, error);
    case KEY_TORCH:
      return store_torch (key, text, scenario, error);
    case KEY_RESHARD:
      return store_reshard (key, text, scenario, error);
    case KEY_TRAINABLE:
      return store_trainable (key, text, scenario, error);
    case KEY_LORA:
      return lora_targets_parse (text, &MEMBER (guint, scenario, key), error);
    case KEY_SELECT:
      return store_select (key, text, scenario, error);
    case KEY_NUMBERED:
      return numbered_list_parse (key, text, &MEMBER (NumberedList, scenario, key), error);
    case KEY_BLOCK_KINDS:
    case KEY_BLOCK_ORDER:
      return store_blocks (key, text, scenario, error);
    }
  g_assert_not_reached ();
}

static char *
canonical_real (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup (g_ascii_dtostr (text, sizeof text, value));
}

char *
value_canonical (const KeyInfo *key, const Scenario *scenario)
{
  int word;

  switch (key->type)
    {
    case KEY_TEXT:
    case KEY_BLOCK_KINDS:
    case KEY_BLOCK_ORDER:
      return g_strdup (MEMBER (char *, scenario, key));
    case KEY_COUNT:
    case KEY_TORCH:
      return g_strdup_printf ("%u", MEMBER (guint, scenario, key));
    case KEY_WHOLE:
      return g_strdup_printf ("%" G_GINT64_FORMAT, MEMBER (gint64, scenario, key));
    case KEY_REAL:
      return canonical_real (MEMBER (double, scenario, key));
    case KEY_FLAG:
    case KEY_RESHARD:
      return g_strdup_printf ("%d", MEMBER (gint, scenario, key));
    case KEY_CHOICE:
      memcpy (&word, G_STRUCT_MEMBER_P (scenario, key->offset), sizeof word);
      return g_strdup (key->words[word]);
    case KEY_TRAINABLE:
      if (scenario->training.trainable == TRAINABLE_LAST)
        return g_strdup_printf ("last:%u", scenario->training.trained_blocks);
      return g_strdup (scenario_trains_all (scenario) ? "all" : "lora");
    case KEY_LORA:
      return lora_targets_format (MEMBER (guint, scenario, key));
    case KEY_SELECT:
      return g_strdup_printf ("%u%s%s", scenario->checkpoint.every,
                              scenario->checkpoint.select_op ? " op" : "",
                              scenario->checkpoint.select_children ? " children" : "");
    case KEY_NUMBERED:
      return numbered_list_canonical (&MEMBER (NumberedList, scenario, key));
    }
  g_assert_not_reached ();
}

/* ---- what a scenario owns ---- */

static gboolean
holds_text (const KeyInfo *key)
{
  return key->offset != KEY_HELD_NOWHERE
         && (key->type == KEY_TEXT || key->type == KEY_BLOCK_KINDS || key->type == KEY_BLOCK_ORDER);
}

static void
copy_owned (const KeyInfo *key, const Scenario *from, Scenario *to)
{
  if (holds_text (key))
    MEMBER (char *, to, key) = g_strdup (MEMBER (char *, from, key));
  else if (key->type == KEY_NUMBERED)
    {
      const NumberedList *list = &MEMBER (NumberedList, from, key);

      MEMBER (NumberedList, to, key).items = g_memdup2 (list->items, list->n * sizeof (Numbered));
    }
}

static void
free_owned (const KeyInfo *key, const Scenario *scenario)
{
  if (holds_text (key))
    g_free (MEMBER (char *, scenario, key));
  else if (key->type == KEY_NUMBERED)
    g_free (MEMBER (NumberedList, scenario, key).items);
}

void
value_copy_scenario (const Scenario *from, Scenario *to)
{
  guint n_keys;
  const KeyInfo *keys = keys_list (&n_keys);

  *to = *from;
  to->variant = g_strdup (from->variant);
  for (guint i = 0; i < n_keys; i++)
    copy_owned (&keys[i], from, to);
  to->model.kinds = NULL;
  to->model.kind_of_block = NULL;
  to->model.n_kinds = 0;
  if (from->model.n_kinds > 0)
    block_kinds_build (to, NULL);
}

void
value_clear_scenario (Scenario *scenario)
{
  guint n_keys;
  const KeyInfo *keys = keys_list (&n_keys);

  block_kinds_clear_built (&scenario->model);
  for (guint i = 0; i < n_keys; i++)
    free_owned (&keys[i], scenario);
  g_free (scenario->variant);
  memset (scenario, 0, sizeof *scenario);
}
