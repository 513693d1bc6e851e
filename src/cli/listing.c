#include "config.h"

#include "cli/listing.h"

#include <csv.h>
#include <json-glib/json-glib.h>
#include <string.h>

void
listing_init (Listing *listing, const char *subject, const ListingColumn *columns, guint n_columns)
{
  *listing = (Listing){
    .subject = subject,
    .columns = columns,
    .n_columns = n_columns,
    .cells = g_ptr_array_new_with_free_func (g_free),
  };
}

void
listing_clear (Listing *listing)
{
  g_ptr_array_unref (listing->cells);
}

void
listing_add (Listing *listing, char *text)
{
  g_ptr_array_add (listing->cells, text);
}

static guint
n_rows (const Listing *listing)
{
  return listing->cells->len / listing->n_columns;
}

static const char *
cell (const Listing *listing, guint row, guint column)
{
  return g_ptr_array_index (listing->cells, row * listing->n_columns + column);
}

/* ---- table ---- */

static const char *
heading (const ListingColumn *column)
{
  return column->heading != NULL ? column->heading : column->name;
}

static guint
column_width (const Listing *listing, guint column)
{
  glong width = g_utf8_strlen (heading (&listing->columns[column]), -1);

  for (guint row = 0; row < n_rows (listing); row++)
    width = MAX (width, g_utf8_strlen (cell (listing, row, column), -1));
  return (guint)width;
}

/* Numbers to the right, text to the left of their columns. */
static void
append_padded (GString *out, const ListingColumn *column, const char *text, guint width)
{
  const guint padding = width - (guint)g_utf8_strlen (text, -1);

  g_string_append_printf (out, "%*s%s%*s  ", column->is_number ? (int)padding : 0, "", text,
                          column->is_number ? 0 : (int)padding, "");
}

/* @row -1 is the headings. */
static void
append_line (GString *out, const Listing *listing, gint row, const guint *widths)
{
  for (guint i = 0; i < listing->n_columns; i++)
    if (widths[i] > 0)
      append_padded (out, &listing->columns[i],
                     row < 0 ? heading (&listing->columns[i]) : cell (listing, (guint)row, i),
                     widths[i]);
  while (out->len > 0 && out->str[out->len - 1] == ' ')
    g_string_truncate (out, out->len - 1);
  g_string_append_c (out, '\n');
}

static char *
format_table (const Listing *listing, gboolean all_columns)
{
  GString *out = g_string_new (NULL);
  g_autofree guint *widths = g_new0 (guint, listing->n_columns); /* 0: left out */

  for (guint i = 0; i < listing->n_columns; i++)
    if (all_columns || listing->columns[i].heading != NULL)
      widths[i] = column_width (listing, i);
  append_line (out, listing, -1, widths);
  for (guint row = 0; row < n_rows (listing); row++)
    append_line (out, listing, (gint)row, widths);
  return g_string_free (out, FALSE);
}

/* ---- CSV ---- */

/* Quotes what needs it, so that cut(1) can read the rest. */
static void
append_field (GString *out, const char *text)
{
  const size_t length = strlen (text);
  const size_t room = 2 * length + 2;
  g_autofree char *quoted = NULL;

  if (strpbrk (text, ",\"\r\n") == NULL)
    {
      g_string_append (out, text);
      return;
    }
  quoted = g_malloc (room);
  g_string_append_len (out, quoted, (gssize)csv_write (quoted, room, text, length));
}

static char *
format_csv (const Listing *listing)
{
  GString *out = g_string_new (NULL);
  const guint n = listing->n_columns;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%c", listing->columns[i].name, i + 1 < n ? ',' : '\n');
  for (guint row = 0; row < n_rows (listing); row++)
    for (guint i = 0; i < n; i++)
      {
        append_field (out, cell (listing, row, i));
        g_string_append_c (out, i + 1 < n ? ',' : '\n');
      }
  return g_string_free (out, FALSE);
}

/* ---- JSON ---- */

static void
build_cell (JsonBuilder *builder, const ListingColumn *column, const char *text)
{
  json_builder_set_member_name (builder, column->name);
  if (!column->is_number)
    json_builder_add_string_value (builder, text);
  else if (strchr (text, '.') != NULL)
    json_builder_add_double_value (builder, g_ascii_strtod (text, NULL));
  else
    json_builder_add_int_value (builder, g_ascii_strtoll (text, NULL, 10));
}

static void
build_rows (JsonBuilder *builder, const Listing *listing)
{
  json_builder_begin_array (builder);
  for (guint row = 0; row < n_rows (listing); row++)
    {
      json_builder_begin_object (builder);
      for (guint i = 0; i < listing->n_columns; i++)
        build_cell (builder, &listing->columns[i], cell (listing, row, i));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static char *
format_json (const Listing *listing)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *json = NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "fsdpsim_version");
  json_builder_add_string_value (builder, PACKAGE_VERSION);
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, listing->subject);
  build_rows (builder, listing);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  json = json_to_string (root, TRUE);
  return g_strconcat (json, "\n", NULL);
}

char *
listing_format (const Listing *listing, Format format, gboolean all_columns)
{
  if (format == FORMAT_CSV)
    return format_csv (listing);
  if (format == FORMAT_JSON)
    return format_json (listing);
  return format_table (listing, all_columns);
}
