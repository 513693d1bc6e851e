#include <config.h>

#include "config/problems.h"

#include <string.h>

#define MOST_PRINTED 20
#define ENOUGH       1000

/* Of a long line, so much is shown on either side of the caret. */
#define CONTEXT_BYTES 80

typedef struct
{
  guint file; /* index into files */
  guint line;
  guint column;
  guint sequence; /* order of noting, which breaks ties */
  char *message;  /* with section and key */
  char *text;     /* the line, or NULL */
} Problem;

struct _Problems
{
  GPtrArray *files;  /* names, in the order they were met */
  GArray *list;      /* Problem */
  GHashTable *known; /* "file:line:column:message" */
  gboolean has_io;
};

static void
problem_clear (gpointer data)
{
  Problem *problem = data;

  g_free (problem->message);
  g_free (problem->text);
}

Problems *
problems_new (void)
{
  Problems *problems = g_new0 (Problems, 1);

  problems->files = g_ptr_array_new_with_free_func (g_free);
  problems->list = g_array_new (FALSE, FALSE, sizeof (Problem));
  problems->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_array_set_clear_func (problems->list, problem_clear);
  return problems;
}

void
problems_free (Problems *problems)
{
  if (problems == NULL)
    return;
  g_ptr_array_unref (problems->files);
  g_array_unref (problems->list);
  g_hash_table_unref (problems->known);
  g_free (problems);
}

static guint
file_index (Problems *problems, const char *file)
{
  guint index;

  if (g_ptr_array_find_with_equal_func (problems->files, file, g_str_equal, &index))
    return index;
  g_ptr_array_add (problems->files, g_strdup (file));
  return problems->files->len - 1;
}

/* Leaves what a terminal can show: one '?' for each byte that is no UTF-8 and
 * for each control character, so that columns stay. Takes @text and returns it. */
static char *
printable (char *text)
{
  const char *invalid;

  while (!g_utf8_validate (text, -1, &invalid))
    text[invalid - text] = '?';
  for (char *at = text; *at != '\0'; at++)
    if (g_ascii_iscntrl (*at) && *at != '\t')
      *at = '?';
  return text;
}

static gsize
character_start (const char *text, gsize at)
{
  while (at > 0 && ((guchar)text[at] & 0xC0) == 0x80)
    at--;
  return at;
}

/* The part of a long line round the problem; *column is moved to match. */
static char *
excerpt (const char *text, guint *column)
{
  gsize length = strlen (text);
  gsize caret = MIN (*column > 0 ? *column - 1 : 0, length);
  gsize first = caret > CONTEXT_BYTES ? character_start (text, caret - CONTEXT_BYTES) : 0;
  gsize end
      = length - caret > CONTEXT_BYTES ? character_start (text, caret + CONTEXT_BYTES) : length;

  *column = (guint)(caret - first + 1);
  return printable (g_strndup (text + first, end - first));
}

/* Takes @problem, whose file and sequence are still to be filled in. */
static void
add_problem (Problems *problems, const char *file, Problem problem)
{
  char *identity
      = g_strdup_printf ("%s:%u:%u:%s", file, problem.line, problem.column, problem.message);

  if (!g_hash_table_add (problems->known, identity))
    {
      problem_clear (&problem);
      return;
    }
  problem.file = file_index (problems, file);
  problem.sequence = problems->list->len;
  g_array_append_val (problems->list, problem);
}

static void
add (Problems *problems, const Place *place, const char *section, const char *key, char *message)
{
  Problem problem = { .line = place->line, .column = place->column };
  GString *whole = g_string_new (NULL);

  if (section != NULL)
    g_string_append_printf (whole, "[%s] ", section);
  if (key != NULL)
    g_string_append_printf (whole, "%s: ", key);
  g_string_append (whole, message);
  g_free (message);
  problem.message = printable (g_string_free (whole, FALSE));
  problem.text = g_strdup (place->text);
  add_problem (problems, place->file, problem);
}

void
problems_add (Problems *problems, const Place *place, const char *section, const char *key,
              const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  add (problems, place, section, key, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

void
problems_add_io (Problems *problems, const char *file, const char *format, ...)
{
  Place place = { .file = file };
  va_list arguments;

  va_start (arguments, format);
  add (problems, &place, NULL, NULL, g_strdup_vprintf (format, arguments));
  va_end (arguments);
  problems->has_io = TRUE;
}

void
problems_add_io_at (Problems *problems, const Place *place, const char *section, const char *key,
                    const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  add (problems, place, section, key, g_strdup_vprintf (format, arguments));
  va_end (arguments);
  problems->has_io = TRUE;
}

void
problems_meet_file (Problems *problems, const char *file)
{
  file_index (problems, file);
}

void
problems_append (Problems *problems, const Problems *more)
{
  for (guint i = 0; i < more->files->len; i++)
    problems_meet_file (problems, g_ptr_array_index (more->files, i));
  for (guint i = 0; i < more->list->len; i++)
    {
      Problem problem = g_array_index (more->list, Problem, i);

      problem.message = g_strdup (problem.message);
      problem.text = g_strdup (problem.text);
      add_problem (problems, g_ptr_array_index (more->files, problem.file), problem);
    }
  problems->has_io |= more->has_io;
}

char *
problems_first (const Problems *problems)
{
  return problems->list->len > 0 ? g_strdup (g_array_index (problems->list, Problem, 0).message)
                                 : NULL;
}

guint
problems_count (const Problems *problems)
{
  return problems->list->len;
}

gboolean
problems_are_enough (const Problems *problems)
{
  return problems->list->len >= ENOUGH;
}

gboolean
problems_has_io (const Problems *problems)
{
  return problems->has_io;
}

/* File, line, column, then order of noting. */
static gint
problem_compare (gconstpointer a, gconstpointer b)
{
  const Problem *x = a, *y = b;

  if (x->file != y->file)
    return x->file < y->file ? -1 : 1;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  if (x->column != y->column && x->line != 0)
    return x->column < y->column ? -1 : 1;
  return x->sequence < y->sequence ? -1 : 1;
}

/* As many display columns as the text before the caret takes; its tabs are kept,
 * so that the terminal expands both lines alike. */
static void
append_caret (GString *out, const char *text, guint column)
{
  const char *end = text + MIN (column - 1, strlen (text));

  for (const char *at = text; at < end; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (c == '\t')
        g_string_append_c (out, '\t');
      else if (!g_unichar_iszerowidth (c))
        g_string_append (out, g_unichar_iswide (c) ? "  " : " ");
    }
  g_string_append (out, "^\n");
}

static void
append_problem (GString *out, const Problems *problems, const Problem *problem, const char *program)
{
  g_string_append_printf (out, "%s%s:", program,
                          (char *)g_ptr_array_index (problems->files, problem->file));
  if (problem->line != 0)
    g_string_append_printf (out, "%u:%u:", problem->line, problem->column);
  g_string_append_printf (out, " %s\n", problem->message);
  if (problem->text != NULL && problem->column != 0)
    {
      guint column = problem->column;
      g_autofree char *text = excerpt (problem->text, &column);

      g_string_append_printf (out, "  %s\n  ", text);
      append_caret (out, text, column);
    }
}

char *
problems_summary (const Problems *problems)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < problems->list->len; i++)
    g_string_append_printf (out, "%s%s", i > 0 ? "; " : "",
                            g_array_index (problems->list, Problem, i).message);
  return g_string_free (out, FALSE);
}

char *
problems_format (const Problems *problems, const char *program)
{
  GString *out = g_string_new (NULL);
  GArray *sorted = g_array_copy (problems->list);
  guint n_printed = MIN (sorted->len, MOST_PRINTED);

  /* The copy borrows what the problems own. */
  g_array_set_clear_func (sorted, NULL);
  g_array_sort (sorted, problem_compare);
  for (guint i = 0; i < n_printed; i++)
    append_problem (out, problems, &g_array_index (sorted, Problem, i), program);
  if (sorted->len > n_printed)
    g_string_append_printf (out, "%s%u more mistakes\n", program, sorted->len - n_printed);
  g_array_unref (sorted);
  return g_string_free (out, FALSE);
}
