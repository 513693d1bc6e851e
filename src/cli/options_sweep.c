#include <config.h>

#include "cli/options_sweep.h"

#include <string.h>

#include "config/units.h"
#include "study/repeat.h"
#include "study/sweep_identity.h"

static gboolean
refuse (GError **error, const char *option, const char *value, const char *wanted)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s %s: takes %s", option,
               *value != '\0' ? value : "''", wanted);
  return FALSE;
}

gboolean
options_take_vary (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (strchr (value, '=') == NULL || strchr (value, '.') == NULL)
    return refuse (error, option, value, "SECTION.KEY=V1,V2,...");
  g_ptr_array_add (options->vary, g_strdup (value));
  return TRUE;
}

gboolean
options_take_points (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (*value == '\0')
    return refuse (error, option, value, "the name of a CSV file");
  g_ptr_array_add (options->points, g_strdup (value));
  return TRUE;
}

/* "2/3" */
gboolean
options_take_shard (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  g_auto (GStrv) parts = g_strsplit (value, "/", 2);
  guint64 shard, n_shards;

  if (g_strv_length (parts) != 2
      || !g_ascii_string_to_unsigned (parts[1], 10, 1, SWEEP_MOST_SHARDS, &n_shards, NULL)
      || !g_ascii_string_to_unsigned (parts[0], 10, 1, n_shards, &shard, NULL))
    return refuse (error, option, value, "I/N, such as 1/3 for the first of three");
  options->shard = (guint)shard;
  options->n_shards = (guint)n_shards;
  return TRUE;
}

gboolean
options_take_merge (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  (void)option;
  (void)value;
  (void)error;
  options->merge = TRUE;
  return TRUE;
}

gboolean
options_take_break_even (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  (void)option;
  (void)value;
  (void)error;
  options->break_even = TRUE;
  return TRUE;
}

gboolean
options_take_tokens (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (!units_parse_real (UNIT_KIND_TOKENS, value, &options->budget.tokens, NULL)
      || options->budget.tokens < 1)
    return refuse (error, option, value, "tokens such as 2T, 300B or 1e12");
  return TRUE;
}

gboolean
options_take_price (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (!units_parse_real (UNIT_KIND_NUMBER, value, &options->budget.price_per_gpu_hour, NULL)
      || options->budget.price_per_gpu_hour <= 0)
    return refuse (error, option, value, "the price of a GPU for an hour, such as 2.5");
  return TRUE;
}

/* ---- what a plan may use, and how often to run ---- */

static gboolean
take_count (const char *option, const char *value, guint most, guint *count, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (value, 10, 1, most, &number, NULL))
    return refuse (error, option, value, "a whole number from 1");
  *count = (guint)number;
  return TRUE;
}

gboolean
options_take_repeat (const char *option, const char *value, gpointer data, GError **error)
{
  return take_count (option, value, REPEAT_MOST, &((Options *)data)->n_repeats, error);
}

gboolean
options_take_gpus (const char *option, const char *value, gpointer data, GError **error)
{
  return take_count (option, value, 1 << 20, &((Options *)data)->limits.max_gpus, error);
}

gboolean
options_take_global_batch (const char *option, const char *value, gpointer data, GError **error)
{
  return take_count (option, value, 1 << 30, &((Options *)data)->limits.global_batch, error);
}

gboolean
options_take_deadline (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  double time_ps;

  if (!units_parse_real (UNIT_KIND_TIME, value, &time_ps, NULL) || time_ps < 1e12)
    return refuse (error, option, value, "a time such as 30d or 12h");
  options->limits.deadline_s = time_ps * 1e-12;
  return TRUE;
}

gboolean
options_take_budget (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (!units_parse_real (UNIT_KIND_NUMBER, value, &options->limits.budget, NULL)
      || options->limits.budget <= 0)
    return refuse (error, option, value, "a sum of money, such as 50000");
  return TRUE;
}

gboolean
options_take_headroom (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  double share;

  if (!units_parse_real (UNIT_KIND_PERCENT, value, &share, NULL) || share >= 1)
    return refuse (error, option, value, "a percentage below 100%, such as 5%");
  options->limits.headroom = share;
  return TRUE;
}

gboolean
options_take_find (const char *option, const char *value, gpointer data, GError **error)
{
  static const char *const words[] = { "micro_batch", "seq_len", "nodes", NULL };
  Options *options = data;

  for (guint i = 0; words[i] != NULL; i++)
    if (g_str_equal (words[i], value))
      {
        options->find = FIND_MICRO_BATCH + i;
        return TRUE;
      }
  return refuse (error, option, value, "micro_batch, seq_len or nodes");
}
