#include <config.h>

#include <string.h>

#include "report/svg.h"

/* Appends @text up to @mark and returns what follows the mark; NULL where there is none, and
 * nothing is appended. */
static const char *
append_until (GString *out, const char *text, const char *mark)
{
  const char *found = strstr (text, mark);

  if (found == NULL)
    return NULL;
  g_string_append_len (out, text, found - text);
  return found + strlen (mark);
}

static const char *
skip_space (const char *text)
{
  while (g_ascii_isspace (*text))
    text++;
  return text;
}

/* Points where an empty group that begins at @group ends, or NULL: it holds something. */
static const char *
end_of_empty_group (const char *group)
{
  static const char end[] = "</g>";
  const char *content = strchr (group, '>');

  if (content == NULL)
    return NULL;
  content = skip_space (content + 1);
  return g_str_has_prefix (content, end) ? skip_space (content + strlen (end)) : NULL;
}

static char *
without_empty_groups (const char *text)
{
  static const char group[] = "<g ";
  GString *out = g_string_new (NULL);
  const char *rest;

  while ((rest = append_until (out, text, group)) != NULL)
    {
      const char *end = end_of_empty_group (rest);

      if (end == NULL)
        g_string_append (out, group);
      text = end != NULL ? end : rest;
    }
  g_string_append (out, text);
  return g_string_free (out, FALSE);
}

/* Cuts from @from to @to, both included, where both are there. */
static void
cut (GString *text, const char *from, const char *to)
{
  const char *begin = strstr (text->str, from);
  const char *end = begin != NULL ? strstr (begin, to) : NULL;

  if (end != NULL)
    g_string_erase (text, begin - text->str, end + strlen (to) - begin);
}

/* gnuplot numbers its plots, for scripts that this program does not need: <g id="gnuplot_plot_1"
 * ><title>gnuplot_plot_1</title>. */
static void
cut_plot_numbers (GString *text)
{
  g_autoptr (GRegex) number
      = g_regex_new (" id=\"gnuplot_plot_\\w+\" ><title>gnuplot_plot_\\w+</title>", 0, 0, NULL);
  g_autofree char *without = g_regex_replace_literal (number, text->str, -1, 0, ">", 0, NULL);

  if (without != NULL)
    g_string_assign (text, without);
}

static gboolean
uses_symbols (const char *text)
{
  const char *definitions_end = strstr (text, "</defs>");

  return definitions_end != NULL
         && (strstr (definitions_end, "#gp") != NULL || strstr (definitions_end, "url(#") != NULL);
}

char *
svg_finish (const char *text, const char *title)
{
  g_autofree char *full = without_empty_groups (text);
  g_autofree char *escaped = g_markup_escape_text (title, -1);
  g_autofree char *element = g_strdup_printf ("<title>%s</title>", escaped);
  GString *out = g_string_new (full);

  cut (out, "<desc>", "</desc>\n");
  cut_plot_numbers (out);
  if (!uses_symbols (out->str))
    cut (out, "<defs>", "</defs>\n");
  g_string_replace (out, "<title>Gnuplot</title>", element, 1);
  g_string_replace (out, "font-family=\"DejaVu Sans\"",
                    "font-family=\"DejaVu Sans, Verdana, sans-serif\"", 0);
  return g_string_free (out, FALSE);
}

char *
svg_inline (const char *text, const char *prefix)
{
  const char *begin = strstr (text, "<svg");
  GString *out = g_string_new (begin != NULL ? begin : "");
  g_autofree char *id = g_strdup_printf ("id='%sgp", prefix);
  g_autofree char *reference = g_strdup_printf ("'#%sgp", prefix);

  g_string_replace (out, " id=\"gnuplot_canvas\"", "", 1);
  g_string_replace (out, "id='gp", id, 0);
  g_string_replace (out, "'#gp", reference, 0);
  return g_string_free (out, FALSE);
}
