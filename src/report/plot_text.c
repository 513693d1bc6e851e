#include <config.h>

#include <math.h>
#include <string.h>

#include "report/format.h"
#include "report/plot_text.h"

/* In single quotes, where gnuplot takes all but the quote as it is; it is doubled. */
static void
append_single_quoted (GString *script, const char *text)
{
  g_string_append_c (script, '\'');
  for (; *text != '\0'; text++)
    if (*text == '\'')
      g_string_append (script, "''");
    else
      g_string_append_c (script, g_ascii_iscntrl (*text) ? ' ' : *text);
  g_string_append_c (script, '\'');
}

/* In double quotes, where backslash and backquote mean something as well. */
static void
append_double_quoted (GString *script, const char *text)
{
  g_string_append_c (script, '"');
  for (; *text != '\0'; text++)
    if (strchr ("\"\\`", *text) != NULL)
      g_string_append_printf (script, "\\%03o", (guint)*text);
    else
      g_string_append_c (script, g_ascii_iscntrl (*text) ? ' ' : *text);
  g_string_append_c (script, '"');
}

/* What would end the line becomes a space. gnuplot 5.4 reads no text in single
 * quotes that begins with one. */
static void
append_quoted (GString *script, const char *text)
{
  if (text[0] == '\'')
    append_double_quoted (script, text);
  else
    append_single_quoted (script, text);
}

void
plot_text_set (GString *script, const char *name, const char *text)
{
  g_string_append_printf (script, "%s = ", name);
  append_quoted (script, text);
  g_string_append_c (script, '\n');
}

void
plot_text_set_number (GString *script, const char *name, double value)
{
  char buffer[FORMAT_SIZE];

  g_string_append_printf (script, "%s = %s\n", name,
                          format_real (buffer, "%.9f", isfinite (value) ? value : 0));
}

void
plot_text_set_array (GString *script, const char *name, const char *const *texts)
{
  const guint n = g_strv_length ((char **)texts);

  g_string_append_printf (script, "array %s[%u]\n", name, n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *element = g_strdup_printf ("%s[%u]", name, i + 1);

      plot_text_set (script, element, texts[i]);
    }
}

char *
plot_text_shorten (const char *text, guint n_characters)
{
  const glong length = g_utf8_strlen (text, -1);
  const glong n_tail = n_characters / 2;
  const glong n_head = (glong)n_characters - n_tail - 1;
  g_autofree char *head = NULL;

  if (length <= (glong)n_characters)
    return g_strdup (text);
  head = g_utf8_substring (text, 0, n_head);
  return g_strconcat (head, "…", g_utf8_offset_to_pointer (text, length - n_tail), NULL);
}

char *
plot_text_ms (double seconds)
{
  char buffer[FORMAT_SIZE];

  return g_strconcat (format_real (buffer, seconds < 1e-3 ? "%.4f" : "%.1f", 1e3 * seconds), " ms",
                      NULL);
}

char *
plot_text_without_wide (const char *text)
{
  GString *plain = g_string_new (NULL);

  for (; *text != '\0'; text = g_utf8_next_char (text))
    {
      const gunichar character = g_utf8_get_char (text);

      g_string_append_unichar (
          plain, g_unichar_iswide (character) || character > 0xFFFF ? '?' : character);
    }
  return g_string_free (plain, FALSE);
}
