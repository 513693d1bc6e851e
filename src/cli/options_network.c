#include <config.h>

#include "cli/options_network.h"

#include <math.h>
#include <string.h>

#include "config/suggest.h"
#include "study/network_check.h"

#define MOST_BYTES 0x1p50
#define MOST_RANKS (1u << 20)
#define MOST_SIZES 1000

static gboolean G_GNUC_PRINTF (4, 5)
    refuse (const char *option, const char *value, GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s %s: %s", option,
               *value != '\0' ? value : "''", text);
  return FALSE;
}

gboolean
options_take_collectives (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  g_auto (GStrv) names = g_strsplit (value, ",", -1);

  g_array_set_size (options->collectives, 0);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *clause = NULL;
      CollectiveKind kind;

      if (network_collective_by_name (names[i], &kind))
        {
          g_array_append_val (options->collectives, kind);
          continue;
        }
      clause = suggest_clause (names[i], CollectiveKind_words);
      return refuse (option, value, error, "no collective '%s'%s", names[i], clause);
    }
  return options->collectives->len > 0
         || refuse (option, value, error, "takes names of collectives");
}

gboolean
options_take_group_sizes (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  g_auto (GStrv) parts = g_strsplit (value, ",", -1);

  options->all_ranks = strcmp (value, "all") == 0;
  g_array_set_size (options->ranks, 0);
  for (guint i = 0; !options->all_ranks && (i == 0 || parts[i] != NULL); i++)
    {
      guint64 ranks;
      guint n;

      if (parts[i] == NULL
          || !g_ascii_string_to_unsigned (parts[i], 10, 2, MOST_RANKS, &ranks, NULL))
        return refuse (option, value, error, "takes numbers of ranks from 2 to %u, or all",
                       MOST_RANKS);
      n = (guint)ranks;
      g_array_append_val (options->ranks, n);
    }
  return TRUE;
}

/* "8", "1M", "2G", "1.5K": powers of 1024, as nccl-tests has them. */
static gboolean
parse_size (const char *text, gint64 *bytes)
{
  static const char letters[] = "KMGT";
  char *end;
  double value;
  const char *letter;

  if (!g_ascii_isdigit (text[0]) || strpbrk (text, "eExX") != NULL)
    return FALSE;
  value = g_ascii_strtod (text, &end);
  letter = *end != '\0' ? strchr (letters, g_ascii_toupper (*end)) : NULL;
  if (*end != '\0' && (letter == NULL || end[1] != '\0'))
    return FALSE;
  if (letter != NULL)
    value = ldexp (value, 10 * (int)(letter - letters + 1));
  if (!(value >= 1 && value <= MOST_BYTES) || floor (value) != value)
    return FALSE;
  *bytes = (gint64)value;
  return TRUE;
}

/* "1M", or "1M-64M": doubling from the first to at most the last. */
static gboolean
add_sizes (GArray *sizes, const char *text)
{
  g_auto (GStrv) ends = g_strsplit (text, "-", 2);
  gint64 first, last;

  if (ends[0] == NULL || !parse_size (ends[0], &first))
    return FALSE;
  last = first;
  if (ends[1] != NULL && (!parse_size (ends[1], &last) || last < first))
    return FALSE;
  for (gint64 bytes = first; bytes <= last; bytes *= 2)
    g_array_append_val (sizes, bytes);
  return sizes->len <= MOST_SIZES;
}

gboolean
options_take_sizes (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  g_auto (GStrv) parts = g_strsplit (value, ",", -1);

  g_array_set_size (options->sizes, 0);
  for (guint i = 0; i == 0 || parts[i] != NULL; i++)
    if (parts[i] == NULL || !add_sizes (options->sizes, parts[i]))
      return refuse (option, value, error,
                     "takes sizes such as 8,1M,2G (K, M, G: powers of 1024) or 1M-8G");
  return TRUE;
}

gboolean
options_take_in_place (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  (void)option;
  (void)value;
  (void)error;
  options->in_place = TRUE;
  return TRUE;
}

static gboolean
take_file (const char *option, const char *value, char **file, GError **error)
{
  if (*value == '\0')
    return refuse (option, value, error, "takes the name of a file");
  g_free (*file);
  *file = g_strdup (value);
  return TRUE;
}

gboolean
options_take_calibrate (const char *option, const char *value, gpointer data, GError **error)
{
  return take_file (option, value, &((Options *)data)->calibrate, error);
}

gboolean
options_take_against (const char *option, const char *value, gpointer data, GError **error)
{
  return take_file (option, value, &((Options *)data)->against, error);
}
