#include <config.h>

#include "config/suggest.h"

#include <string.h>

/* No word that we know is longer; what is, has no neighbour. */
#define LONGEST_WORD 64

#define FEW_WORDS 14

/* Two slips in a word so short leave nothing of it: "h100" is no "a10g". */
#define SHORT_WORD 4

/* Fewer letters are part of too many words. */
#define SHORTEST_PART 3

static gboolean
same_letter (char a, char b)
{
  return g_ascii_tolower (a) == g_ascii_tolower (b);
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of
 * neighbours cost 1 each. Three rows of the usual matrix suffice. */
static guint
distance (const char *a, const char *b)
{
  gsize n_a = strlen (a), n_b = strlen (b);
  guint rows[3][LONGEST_WORD + 1];

  for (gsize j = 0; j <= n_b; j++)
    rows[0][j] = (guint)j;
  for (gsize i = 1; i <= n_a; i++)
    {
      guint *row = rows[i % 3];
      const guint *above = rows[(i + 2) % 3];
      const guint *two_above = rows[(i + 1) % 3];

      row[0] = (guint)i;
      for (gsize j = 1; j <= n_b; j++)
        {
          row[j] = above[j - 1] + !same_letter (a[i - 1], b[j - 1]);
          row[j] = MIN (row[j], MIN (above[j], row[j - 1]) + 1);
          if (i > 1 && j > 1 && same_letter (a[i - 1], b[j - 2])
              && same_letter (a[i - 2], b[j - 1]))
            row[j] = MIN (row[j], two_above[j - 2] + 1);
        }
    }
  return rows[n_a % 3][n_b];
}

const char *
suggest_nearest (const char *word, const char *const *words)
{
  gsize length = strlen (word);
  guint limit = length <= SHORT_WORD ? 1 : MAX (2, (guint)MIN (length, LONGEST_WORD) / 3);
  const char *nearest = NULL;

  if (length > LONGEST_WORD)
    return NULL;
  /* A word that shares no letter with what was written is no suggestion. */
  limit = MIN (limit, (guint)MAX (length, 1) - 1);
  for (; *words != NULL; words++)
    {
      gsize other = strlen (*words);
      guint edits;

      if (other > LONGEST_WORD || MAX (other, length) - MIN (other, length) > limit)
        continue;
      edits = distance (word, *words);
      if (edits < limit || (edits == limit && nearest == NULL))
        {
          nearest = *words;
          limit = edits;
        }
    }
  return nearest;
}

/* The words that @part is a part of. */
static GPtrArray *
words_around (const char *part, const char *const *words)
{
  GPtrArray *found = g_ptr_array_new ();
  g_autofree char *lower = g_ascii_strdown (part, -1);

  for (; strlen (part) >= SHORTEST_PART && *words != NULL; words++)
    {
      g_autofree char *word = g_ascii_strdown (*words, -1);

      if (strstr (word, lower) != NULL)
        g_ptr_array_add (found, (gpointer)*words);
    }
  g_ptr_array_add (found, NULL);
  return found;
}

char *
suggest_clause (const char *word, const char *const *words)
{
  const char *nearest = suggest_nearest (word, words);
  const gsize n_words = g_strv_length ((char **)words);
  g_autoptr (GPtrArray) around = words_around (word, words);
  const gsize n_around = around->len - 1;
  g_autofree char *list = NULL;

  if (nearest == NULL && n_around == 1)
    nearest = g_ptr_array_index (around, 0);
  if (nearest != NULL)
    return g_strdup_printf ("; did you mean '%s'?", nearest);
  if (n_words >= FEW_WORDS && n_around > 0 && n_around < FEW_WORDS)
    {
      list = g_strjoinv ("', '", (char **)around->pdata);
      return g_strdup_printf ("; did you mean one of '%s'?", list);
    }
  if (n_words == 0 || n_words >= FEW_WORDS)
    return g_strdup ("");
  list = g_strjoinv (", ", (char **)words);
  return g_strdup_printf (n_words == 1 ? "; only %s" : "; one of %s", list);
}
