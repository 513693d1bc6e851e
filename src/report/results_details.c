/* What report.json says and no CSV file does: the scenario's title, and how much
 * memory each variant can have. Read as a stream, however deep it nests. */
#include <config.h>

#include <string.h>

#include <yajl/yajl_parse.h>

#include "report/results_files.h"

#define MEMBER_LENGTH 32

typedef struct
{
  Results *results;
  guint depth;                 /* of maps and arrays around the value */
  char section[MEMBER_LENGTH]; /* member of the outermost map: "meta", "variants" */
  char member[MEMBER_LENGTH];  /* of the innermost map */
  ResultsVariant *variant;     /* the last one named */
} Details;

static gboolean
is_at (const Details *details, guint depth, const char *section, const char *member)
{
  return details->depth == depth && strcmp (details->section, section) == 0
         && strcmp (details->member, member) == 0;
}

static int
on_key (void *data, const unsigned char *key, size_t length)
{
  Details *details = data;

  g_strlcpy (details->member, (const char *)key, MIN (length + 1, MEMBER_LENGTH));
  if (details->depth == 1)
    g_strlcpy (details->section, details->member, MEMBER_LENGTH);
  return 1;
}

static int
on_text (void *data, const unsigned char *text, size_t length)
{
  Details *details = data;
  g_autofree char *value = g_strndup ((const char *)text, length);

  if (is_at (details, 2, "meta", "title"))
    {
      g_free (details->results->title);
      details->results->title = g_steal_pointer (&value);
    }
  else if (is_at (details, 3, "variants", "variant"))
    details->variant = g_hash_table_lookup (details->results->by_name, value);
  return 1;
}

static int
on_number (void *data, const char *text, size_t length)
{
  Details *details = data;
  g_autofree char *value = g_strndup (text, length);

  if (is_at (details, 3, "variants", "capacity_bytes") && details->variant != NULL)
    details->variant->capacity_bytes = g_ascii_strtod (value, NULL);
  return 1;
}

static int
on_begin (void *data)
{
  ((Details *)data)->depth++;
  return 1;
}

static int
on_end (void *data)
{
  ((Details *)data)->depth--;
  return 1;
}

static guint
line_at (const char *text, gsize offset)
{
  guint line = 1;

  for (gsize i = 0; i < offset; i++)
    line += text[i] == '\n';
  return line;
}

gboolean
results_take_details (Results *results, const char *name, const char *text, gsize length,
                      GError **error)
{
  static const yajl_callbacks callbacks = { .yajl_map_key = on_key,
                                            .yajl_string = on_text,
                                            .yajl_number = on_number,
                                            .yajl_start_map = on_begin,
                                            .yajl_end_map = on_end,
                                            .yajl_start_array = on_begin,
                                            .yajl_end_array = on_end };
  Details details = { .results = results };
  yajl_handle parser = yajl_alloc (&callbacks, NULL, &details);
  gboolean is_right = yajl_parse (parser, (const unsigned char *)text, length) == yajl_status_ok
                      && yajl_complete_parse (parser) == yajl_status_ok;

  if (!is_right)
    {
      unsigned char *said = yajl_get_error (parser, 0, NULL, 0);
      const gsize at = MIN (yajl_get_bytes_consumed (parser), length);

      g_set_error (error, RESULTS_ERROR, RESULTS_ERROR_BAD, "%s:%u: %s", name, line_at (text, at),
                   g_strchomp ((char *)said));
      yajl_free_error (parser, said);
    }
  yajl_free (parser);
  return is_right;
}
