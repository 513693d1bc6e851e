#include <config.h>

#include <math.h>

#include "report/format.h"
#include "report/html_text.h"

/* Control characters have no place in HTML, escaped or not. */
static void
append_escaped (GString *page, const char *text)
{
  g_autofree char *plain = g_strdup (text);
  g_autofree char *escaped = NULL;

  for (char *c = plain; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  escaped = g_markup_escape_text (plain, -1);
  g_string_append (page, escaped);
}

void
html_append (GString *page, const char *tag, const char *text)
{
  g_string_append_printf (page, "<%s>", tag);
  append_escaped (page, text);
  g_string_append_printf (page, "</%s>\n", tag);
}

void
html_append_format (GString *page, const char *tag, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  html_append (page, tag, text);
}

void
html_table_begin (GString *page, const char *caption, const char *const *headers)
{
  g_string_append (page, "<div class=\"wide\" tabindex=\"0\">\n<table>\n");
  html_append (page, "caption", caption);
  g_string_append (page, "<thead>\n<tr>");
  for (; *headers != NULL; headers++)
    {
      g_string_append (page, "<th scope=\"col\">");
      append_escaped (page, *headers);
      g_string_append (page, "</th>");
    }
  g_string_append (page, "</tr>\n</thead>\n<tbody>\n");
}

void
html_row_begin (GString *page, const char *name)
{
  g_string_append (page, "<tr><th scope=\"row\">");
  append_escaped (page, name);
  g_string_append (page, "</th>");
}

void
html_cell (GString *page, const char *text)
{
  g_string_append (page, "<td>");
  append_escaped (page, text);
  g_string_append (page, "</td>");
}

void
html_cell_text (GString *page, const char *text)
{
  g_string_append (page, "<td class=\"text\">");
  append_escaped (page, text);
  g_string_append (page, "</td>");
}

void
html_cell_number (GString *page, const char *format, double value)
{
  char buffer[FORMAT_SIZE];

  html_cell (page, isfinite (value) ? format_real (buffer, format, value) : "–");
}

void
html_row_end (GString *page)
{
  g_string_append (page, "</tr>\n");
}

void
html_table_end (GString *page)
{
  g_string_append (page, "</tbody>\n</table>\n</div>\n");
}
