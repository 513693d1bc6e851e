#include <config.h>

#include "interop/json_scan.h"

#include <string.h>

#define MOST_DEPTH  64
#define MOST_DIGITS 18 /* that 64 bits surely hold */

typedef struct
{
  char *text;
  gsize length;
  gsize at;
  const char *name;
  GArray *notes;
  GArray *values;
  Problems *problems;
  gsize opened[MOST_DEPTH]; /* where the brackets stand that are open */
  gsize value[MOST_DEPTH];  /* of the member at hand of each; G_MAXSIZE: none began */
  guint depth;
  gboolean is_behind_colon;
  gsize comma;       /* behind which nothing came yet; G_MAXSIZE: none */
  gboolean is_whole; /* the first value has ended */
} Scan;

/* The place of @offset in @text; its line is in *line, which the caller frees. */
static Place
place_of (const char *text, gsize offset, const char *name, char **line)
{
  const char *start = text + offset;
  Place place = { .file = name, .line = 1 };

  while (start > text && start[-1] != '\n')
    start--;
  for (const char *at = text; at < start; at++)
    place.line += *at == '\n';
  *line = g_strndup (start, strcspn (start, "\r\n"));
  place.column = (guint)(text + offset - start) + 1;
  place.text = *line;
  return place;
}

static gboolean G_GNUC_PRINTF (3, 4)
    fail_at (const Scan *scan, gsize offset, const char *format, ...)
{
  g_autofree char *line = NULL;
  g_autofree char *message = NULL;
  Place place = place_of (scan->text, offset, scan->name, &line);
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  problems_add (scan->problems, &place, NULL, NULL, "%s", message);
  return FALSE;
}

static void
note (const Scan *scan, gsize offset, char *message)
{
  JsonNote found = { offset, message };

  g_array_append_val (scan->notes, found);
}

/* ---- what kind of file it is ---- */

static gboolean
fail_file (const Scan *scan, const char *message)
{
  Place place = { .file = scan->name };

  problems_add (scan->problems, &place, NULL, NULL, "%s", message);
  return FALSE;
}

static gboolean
starts_with (const Scan *scan, const char *bytes, gsize n)
{
  return scan->length >= n && memcmp (scan->text, bytes, n) == 0;
}

static gboolean
is_text (Scan *scan)
{
  const char *invalid;

  if (starts_with (scan, "\xEF\xBB\xBF", 3))
    memset (scan->text, ' ', 3);
  if (strspn (scan->text, " \t\r\n") == scan->length)
    return fail_file (scan, "the file is empty");
  if (starts_with (scan, "\xFF\xFE", 2) || starts_with (scan, "\xFE\xFF", 2))
    return fail_file (scan, "UTF-16 text (byte order mark FF FE or FE FF); UTF-8 is expected: "
                            "'iconv -f UTF-16 -t UTF-8' makes it");
  if (starts_with (scan, "\x1F\x8B", 2))
    return fail_file (scan, "compressed by gzip; 'gzip -d' unpacks it");
  if (starts_with (scan, "version https://git-lfs", 23))
    return fail_file (scan,
                      "a Git LFS pointer, not the file that it stands for; 'git lfs pull' gets it");
  if (!g_utf8_validate (scan->text, (gssize)scan->length, &invalid))
    return fail_at (scan, (gsize)(invalid - scan->text),
                    *invalid == '\0' ? "a NUL byte: this is no text" : "not UTF-8");
  return TRUE;
}

/* ---- tokens ---- */

static gboolean
skip_string (Scan *scan)
{
  gsize start = scan->at++;

  for (; scan->at < scan->length && scan->text[scan->at] != '"'; scan->at++)
    {
      guchar c = (guchar)scan->text[scan->at];

      if (c == '\\' && scan->at + 1 < scan->length)
        scan->at++;
      else if (c < ' ')
        return fail_at (scan, start, "the string does not end in its line");
    }
  if (scan->at >= scan->length)
    return fail_at (scan, start, "the file ends inside this string: it is cut off");
  scan->at++;
  return TRUE;
}

static gsize
skip_digits (const Scan *scan, gsize at)
{
  while (at < scan->length && g_ascii_isdigit (scan->text[at]))
    at++;
  return at;
}

/* -?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?; where that ends, or 0. */
static gsize
number_end (const Scan *scan, gsize *n_digits)
{
  gsize at = scan->at + (scan->text[scan->at] == '-' ? 1 : 0);
  gsize first = at;

  at = skip_digits (scan, at);
  *n_digits = at - first;
  if (*n_digits == 0 || (*n_digits > 1 && scan->text[first] == '0'))
    return 0;
  if (scan->text[at] == '.')
    {
      first = ++at;
      *n_digits = 0;
      at = skip_digits (scan, at);
      if (at == first)
        return 0;
    }
  if (scan->text[at] == 'e' || scan->text[at] == 'E')
    {
      at += scan->text[at + 1] == '+' || scan->text[at + 1] == '-' ? 2 : 1;
      first = at;
      *n_digits = 0;
      at = skip_digits (scan, at);
      if (at == first)
        return 0;
    }
  return at;
}

static gboolean
skip_number (Scan *scan)
{
  gsize n_digits;
  gsize start = scan->at;
  gsize end = number_end (scan, &n_digits);

  if (end == 0 || g_ascii_isalnum (scan->text[end]) || scan->text[end] == '.')
    return fail_at (scan, start, "not a number of JSON");
  scan->at = end;
  if (n_digits <= MOST_DIGITS)
    return TRUE;
  scan->text[end - 2] = 'e';
  scan->text[end - 1] = '2';
  note (scan, start, g_strdup_printf ("a number of %u digits", (guint)n_digits));
  return TRUE;
}

/* "?" in quotes, as long as the word was. */
static void
make_stand_in (Scan *scan, gsize start)
{
  g_autofree char *word = g_strndup (scan->text + start, scan->at - start);

  memset (scan->text + start, '?', scan->at - start);
  scan->text[start] = scan->text[scan->at - 1] = '"';
  note (scan, start, g_strdup_printf ("%s is Python's, not JSON's", word));
}

gboolean
json_scan_is_stand_in (const char *string)
{
  return string[0] != '\0' && strspn (string, "?") == strlen (string);
}

/* A word without quotes, or -Infinity. */
static gboolean
skip_word (Scan *scan)
{
  static const char *const json[] = { "true", "false", "null", NULL };
  static const char *const python[] = { "True", "False", "None", NULL };
  static const char *const not_finite[] = { "NaN", "Infinity", "-Infinity", NULL };
  gsize start = scan->at;
  g_autofree char *word = NULL;

  scan->at += scan->text[scan->at] == '-';
  while (scan->at < scan->length
         && (g_ascii_isalnum (scan->text[scan->at]) || scan->text[scan->at] == '_'))
    scan->at++;
  word = g_strndup (scan->text + start, scan->at - start);
  if (g_strv_contains (json, word))
    return TRUE;
  if (g_strv_contains (not_finite, word))
    {
      make_stand_in (scan, start);
      return TRUE;
    }
  if (g_strv_contains (python, word))
    return fail_at (scan, start, "%s: a Python dict, not JSON; json.dump() writes JSON", word);
  return fail_at (scan, start, "a word without quotes: this is not JSON");
}

static gboolean
open_bracket (Scan *scan)
{
  if (scan->depth >= MOST_DEPTH)
    return fail_at (scan, scan->at, "more than %d brackets inside each other", MOST_DEPTH);
  scan->value[scan->depth] = G_MAXSIZE;
  scan->opened[scan->depth++] = scan->at++;
  return TRUE;
}

static gboolean
close_bracket (Scan *scan)
{
  char wanted = scan->text[scan->at] == '}' ? '{' : '[';

  if (scan->depth == 0 || scan->text[scan->opened[scan->depth - 1]] != wanted)
    return fail_at (scan, scan->at, "'%c' closes nothing", scan->text[scan->at]);
  if (scan->comma != G_MAXSIZE)
    return fail_at (scan, scan->comma, "a comma before '%c': JSON has none there",
                    scan->text[scan->at]);
  scan->depth--;
  scan->at++;
  return TRUE;
}

static gboolean
skip_value_token (Scan *scan)
{
  char c = scan->text[scan->at];

  scan->comma = G_MAXSIZE;
  if (c == '"')
    return skip_string (scan);
  if (g_ascii_isdigit (c) || (c == '-' && g_ascii_isdigit (scan->text[scan->at + 1])))
    return skip_number (scan);
  if (g_ascii_isalpha (c) || c == '-')
    return skip_word (scan);
  if (c == '\'')
    return fail_at (scan, scan->at,
                    "single quotes: a Python dict, not JSON; json.dump() writes JSON");
  if (c == '/' || c == '#')
    return fail_at (scan, scan->at, "a comment: JSON has none");
  return fail_at (scan, scan->at, "not JSON");
}

static gboolean
skip_token (Scan *scan)
{
  char c = scan->text[scan->at];

  if (scan->is_whole)
    return fail_at (scan, scan->at, "more data after the first object; one is expected");
  if (c == '{' || c == '[')
    {
      scan->comma = G_MAXSIZE;
      return open_bracket (scan);
    }
  if (c == '}' || c == ']')
    return close_bracket (scan);
  if (c == ',')
    scan->comma = scan->at;
  if (c != ',' && c != ':')
    return skip_value_token (scan);
  scan->at++;
  return TRUE;
}

/* ---- members ---- */

static void
begin_value (Scan *scan)
{
  if (scan->is_behind_colon && scan->depth > 0)
    scan->value[scan->depth - 1] = scan->at;
  scan->is_behind_colon = FALSE;
}

static void
end_value (Scan *scan)
{
  gsize *start = scan->depth > 0 ? &scan->value[scan->depth - 1] : NULL;

  if (start == NULL || *start == G_MAXSIZE)
    return;
  g_array_append_val (scan->values, *start);
  *start = G_MAXSIZE;
}

static gboolean
take_token (Scan *scan)
{
  const char c = scan->text[scan->at];

  if (c != ':')
    begin_value (scan);
  if (!skip_token (scan))
    return FALSE;
  if (c == ':')
    scan->is_behind_colon = TRUE;
  else if (c != '{' && c != '[' && c != ',')
    end_value (scan);
  return TRUE;
}

static gboolean
scan_tokens (Scan *scan)
{
  gsize opened;

  while (TRUE)
    {
      scan->at += strspn (scan->text + scan->at, " \t\r\n");
      if (scan->at >= scan->length)
        break;
      if (!take_token (scan))
        return FALSE;
      scan->is_whole = scan->depth == 0;
    }
  if (scan->depth == 0)
    return TRUE;
  opened = scan->opened[scan->depth - 1];
  return fail_at (scan, opened, "the file ends before this '%c' is closed: it is cut off",
                  scan->text[opened]);
}

gboolean
json_scan (char *text, gsize length, const char *name, GArray *notes, GArray *values,
           Problems *problems)
{
  Scan scan = { .text = text,
                .length = length,
                .name = name,
                .notes = notes,
                .values = values,
                .problems = problems,
                .comma = G_MAXSIZE };

  return is_text (&scan) && scan_tokens (&scan);
}
