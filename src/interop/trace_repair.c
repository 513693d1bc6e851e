#include <config.h>

#include <string.h>

#include "interop/trace_repair.h"

#define MAX_DEPTH 64

typedef struct
{
  const char *at, *end;
  GString *out;
  char open[MAX_DEPTH]; /* '{' or '[' of each level */
  guint depth;
} Repair;

static const char *
skip_space (const char *at, const char *end)
{
  while (at < end && g_ascii_isspace (*at))
    at++;
  return at;
}

/* A key and its colon. */
static gboolean
is_member (const char *at, const char *end)
{
  const char *quote;

  if (at == end || *at != '"')
    return FALSE;
  quote = memchr (at + 1, '"', (gsize)(end - at - 1));
  if (quote == NULL)
    return FALSE;
  quote = skip_space (quote + 1, end);
  return quote < end && *quote == ':';
}

/* Whether the quote before @at ends its string. In an object a comma must lead to the next
 * member, else it stands inside the string. */
static gboolean
ends_string (const Repair *repair, const char *at)
{
  const char *next = skip_space (at, repair->end);

  if (next == repair->end || *next == '}' || *next == ']' || *next == ':')
    return TRUE;
  if (*next != ',')
    return FALSE;
  if (repair->depth == 0 || repair->open[repair->depth - 1] == '[')
    return TRUE;
  return is_member (skip_space (next + 1, repair->end), repair->end);
}

/* From behind the opening quote to behind the closing one. */
static void
repair_string (Repair *repair)
{
  g_string_append_c (repair->out, '"');
  while (repair->at < repair->end)
    {
      const char byte = *repair->at++;

      if (byte == '"' && ends_string (repair, repair->at))
        break;
      if (byte == '"')
        g_string_append (repair->out, "\\\"");
      else if (byte == '\\' && repair->at < repair->end)
        {
          g_string_append_c (repair->out, byte);
          g_string_append_c (repair->out, *repair->at++);
        }
      else
        g_string_append_c (repair->out, (guchar)byte < ' ' ? ' ' : byte);
    }
  g_string_append_c (repair->out, '"');
}

/* true, false, null and numbers stay; "nan", "-inf" and the like become null. */
static void
repair_word (Repair *repair)
{
  const char *first = repair->at;
  gsize length;

  while (repair->at < repair->end && strchr (",:{}[]\"", *repair->at) == NULL
         && !g_ascii_isspace (*repair->at))
    repair->at++;
  length = (gsize)(repair->at - first);
  if (g_ascii_isdigit (first[length - 1]) || (length == 4 && memcmp (first, "true", 4) == 0)
      || (length == 5 && memcmp (first, "false", 5) == 0))
    g_string_append_len (repair->out, first, (gssize)length);
  else
    g_string_append (repair->out, "null");
}

static void
track_depth (Repair *repair, char byte)
{
  if ((byte == '{' || byte == '[') && repair->depth < MAX_DEPTH)
    repair->open[repair->depth++] = byte;
  else if ((byte == '}' || byte == ']') && repair->depth > 0)
    repair->depth--;
}

GString *
trace_repair (const char *text, gsize length)
{
  Repair repair = { .at = text, .end = text + length, .out = g_string_sized_new (length + 16) };

  while (repair.at < repair.end)
    {
      const char byte = *repair.at;

      if (byte == '"')
        {
          repair.at++;
          repair_string (&repair);
        }
      else if (byte == '\0' || strchr (",:{}[]", byte) != NULL || g_ascii_isspace (byte))
        {
          track_depth (&repair, byte);
          g_string_append_c (repair.out, byte == '\0' ? ' ' : byte);
          repair.at++;
        }
      else
        repair_word (&repair);
    }
  return repair.out;
}
