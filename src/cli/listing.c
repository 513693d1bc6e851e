#include <config.h>

#include "cli/listing.h"

#include <string.h>

#include "report/csv.h"
#include "report/json_members.h"
#include "report/text_table.h"

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
  guint width = text_width (heading (&listing->columns[column]));

  for (guint row = 0; row < n_rows (listing); row++)
    width = MAX (width, text_width (cell (listing, row, column)));
  return width;
}

/* Numbers to the right, text to the left of their columns. */
static void
append_padded (GString *out, const ListingColumn *column, const char *text, guint width)
{
  const guint padding = width - text_width (text);

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

static char *
csv_header (const Listing *listing)
{
  g_autofree const char **names = g_new0 (const char *, listing->n_columns + 1);

  for (guint i = 0; i < listing->n_columns; i++)
    names[i] = listing->columns[i].name;
  return g_strjoinv (",", (char **)names);
}

static char *
format_csv (const Listing *listing)
{
  g_autofree char *header = csv_header (listing);
  Csv csv;

  csv_begin (&csv, header);
  for (guint row = 0; row < n_rows (listing); row++)
    {
      for (guint i = 0; i < listing->n_columns; i++)
        csv_add_text (&csv, cell (listing, row, i));
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

/* ---- JSON ---- */

static void
build_cell (JsonBuilder *builder, const ListingColumn *column, const char *text)
{
  json_builder_set_member_name (builder, column->name);
  if (!column->is_number)
    json_builder_add_string_value (builder, text);
  else if (strpbrk (text, ".eEN") != NULL)
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

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, listing->subject);
  build_rows (builder, listing);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
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
