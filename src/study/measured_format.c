#include <config.h>

#include "study/measured_format.h"

#include <string.h>

#include "report/csv.h"
#include "report/format.h"
#include "study/measured_scenario.h"

SimTime
measured_mean (const MeasuredTime *time)
{
  const SimTime n = (SimTime)MAX (time->n, 1);

  return (time->total + n / 2) / n;
}

static double
calls_per_step (const MeasuredStep *step, const MeasuredTime *time)
{
  return (double)time->n / MAX (step->n_steps, 1);
}

/* Bytes a second over 10^9; NaN where nothing tells the size. */
static double
algorithm_bandwidth (const MeasuredTime *time)
{
  if (time->bytes <= 0 || time->total <= 0)
    return (double)NAN;
  return (double)time->bytes / (double)time->total * 1e3;
}

/* As nccl-tests: what a link carries. All-reduce moves everything twice. */
static double
bus_factor (TimelineOp kind, guint n_ranks)
{
  if (n_ranks == 0)
    return (double)NAN;
  return (n_ranks - 1.0) / n_ranks * (kind == TIMELINE_ALL_REDUCE ? 2 : 1);
}

/* ---- [timing] ---- */

/* To the picosecond, so that reading it again changes nothing, in ms from 1 ms on. */
static char *
exact_time (SimTime time)
{
  const gboolean in_ms = time >= PICOSECONDS_PER_SECOND / 1000;
  const SimTime unit = PICOSECONDS_PER_SECOND / (in_ms ? 1000 : 1000000);
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT ".%0*" G_GINT64_FORMAT, time / unit,
                                           in_ms ? 9 : 6, time % unit);
  gsize length = strlen (text);

  while (text[length - 1] == '0')
    length--;
  if (text[length - 1] == '.')
    length--;
  text[length] = '\0';
  return g_strconcat (text, in_ms ? "ms" : "us", NULL);
}

static void
add_setting (GArray *settings, const char *key, SimTime time, const char *comment)
{
  g_autofree char *exact = exact_time (time);
  const IniSetting setting = {
    .section = "timing",
    .key = key,
    .value = g_strconcat (exact, comment[0] == '\0' ? "" : "  # ", comment, NULL),
  };

  g_array_append_val (settings, setting);
}

static char *
comment_of (const MeasuredStep *step, MeasuredKey key)
{
  const MeasuredTime *time = &step->times[key];
  TimelineOp kind;

  if (time->is_spread && time->total == 0)
    return g_strdup ("spread over the blocks");
  if (time->is_spread && key == MEASURED_all_reduce)
    return g_strdup ("a block's share of all buckets");
  if (time->is_spread)
    return g_strdup ("of all kernels of that pass, spread over the blocks");
  if (time->n == 1)
    return g_strdup ("measured once");
  return g_strdup_printf ("mean of %" G_GUINT64_FORMAT "%s", time->n,
                          measured_key_is_collective (key, &kind) ? " calls" : "");
}

/* Where nothing tells units apart, a collective is nobody's. */
static gboolean
is_told (const MeasuredStep *step, MeasuredKey key)
{
  TimelineOp kind;

  return step->times[key].n > 0
         && (step->recorded->has_units || step->times[key].is_spread
             || !measured_key_is_collective (key, &kind));
}

GArray *
measured_settings (const MeasuredStep *step, gboolean with_network)
{
  GArray *settings = g_array_new (FALSE, FALSE, sizeof (IniSetting));
  TimelineOp kind;

  for (MeasuredKey key = 0; key < N_MEASURED; key++)
    {
      const MeasuredTime *time = &step->times[key];
      g_autofree char *comment = comment_of (step, key);

      if (key == MEASURED_recompute && time->n == 0 && step->times[MEASURED_forward].n > 0)
        add_setting (settings, "recompute", measured_mean (&step->times[MEASURED_forward]),
                     "none in the trace: the forward's");
      else if (is_told (step, key) && (with_network || !measured_key_is_collective (key, &kind)))
        add_setting (settings, measured_key_name (key), measured_mean (time), comment);
    }
  return settings;
}

void
measured_settings_free (GArray *settings)
{
  for (guint i = 0; i < settings->len; i++)
    g_free ((char *)g_array_index (settings, IniSetting, i).value);
  g_array_unref (settings);
}

/* ---- comments ---- */

static void
append_collective (GString *text, const MeasuredStep *step, MeasuredKey key, guint n_ranks)
{
  const MeasuredTime *time = &step->times[key];
  const double algbw = algorithm_bandwidth (time);
  TimelineOp kind;

  if (!measured_key_is_collective (key, &kind) || time->n == 0)
    return;
  g_string_append_printf (text, "#   %-21s %7.1f  %12.0f  %9.3f  %7.2f",
                          step->recorded->has_units ? measured_key_name (key)
                                                    : timeline_op_name (kind),
                          calls_per_step (step, time), (double)time->bytes / (double)time->n,
                          (double)measured_mean (time) / 1e9, algbw);
  if (n_ranks > 0)
    g_string_append_printf (text, "  %7.2f", algbw * bus_factor (kind, n_ranks));
  g_string_append_c (text, '\n');
}

static gboolean
has_collectives (const MeasuredStep *step)
{
  TimelineOp kind;

  for (MeasuredKey key = 0; key < N_MEASURED; key++)
    if (step->times[key].n > 0 && measured_key_is_collective (key, &kind))
      return TRUE;
  return FALSE;
}

/* A name as a part of one comment line. */
static char *
one_line (const char *name)
{
  char *line = g_utf8_make_valid (name, -1);

  for (char *at = line; *at != '\0'; at++)
    if (g_ascii_iscntrl (*at))
      *at = ' ';
  return line;
}

static void
append_source (GString *text, const MeasuredStep *step)
{
  const RecordedFile *file = g_ptr_array_index (step->recorded->files, 0);
  g_autofree char *base = g_path_get_basename (file->path);
  g_autofree char *name = one_line (base);
  g_autofree char *gpu = one_line (file->gpu == NULL ? "GPU not told" : file->gpu);

  g_string_append_printf (text, "# Measured: %s", name);
  if (step->recorded->files->len > 1)
    g_string_append_printf (text, " and %u more", step->recorded->files->len - 1);
  g_string_append_printf (text, ", rank %u", step->rank);
  if (file->world_size > 0)
    g_string_append_printf (text, " of %" G_GINT64_FORMAT, file->world_size);
  g_string_append_printf (text, ", %s: %u step%s of %.3f ms, read by " PACKAGE_STRING ".\n", gpu,
                          step->n_steps, step->n_steps == 1 ? "" : "s",
                          1e3 * step->recorded->figures.step_time_s);
}

void
measured_append_comments (GString *text, const MeasuredStep *step, guint n_ranks)
{
  const RecordedRank *rank
      = &g_array_index (step->recorded->ranks, RecordedRank, step->recorded->slowest);

  append_source (text, step);
  if (!has_collectives (step))
    return;
  g_string_append_printf (text, "# Collectives%s:\n",
                          rank->knows_waiting
                              ? " without waiting for other ranks"
                              : ", with what they waited for other ranks (traces of all ranks tell "
                                "it apart)");
  g_string_append_printf (text, "#                           a step         bytes         ms  %s\n",
                          n_ranks > 0 ? "algbw and busbw in GB/s" : "algbw in GB/s");
  for (MeasuredKey key = 0; key < N_MEASURED; key++)
    append_collective (text, step, key, n_ranks);
}

/* ---- the files ---- */

static guint
world_of (const MeasuredStep *step)
{
  const RecordedFile *file = g_ptr_array_index (step->recorded->files, 0);

  return file->world_size > 0 ? (guint)MIN (file->world_size, G_MAXINT) : 0;
}

static double
pooled_ms (const MeasuredStep *step, TimelineOp op)
{
  return (double)measured_mean (&step->pooled[op]) / 1e9;
}

char *
measured_step_file (const MeasuredStep *step)
{
  GString *text = g_string_new (NULL);
  GArray *settings = measured_settings (step, TRUE);

  measured_append_comments (text, step, world_of (step));
  g_string_append (text, "# A part of a scenario: --scenario SCENARIO puts it into a whole one.\n");
  if (measured_step_is_unplaced (step))
    g_string_append_printf (text,
                            "# Nothing places kernels in blocks: a scenario, whose blocks are "
                            "counted, gets the %.3f ms\n"
                            "# of forward and %.3f ms of backward a micro-batch.\n",
                            pooled_ms (step, TIMELINE_FORWARD),
                            pooled_ms (step, TIMELINE_BACKWARD));
  g_string_append (text, "[timing]\n");
  for (guint i = 0; i < settings->len; i++)
    {
      const IniSetting *setting = &g_array_index (settings, IniSetting, i);

      g_string_append_printf (text, "%s = %s\n", setting->key, setting->value);
    }
  measured_settings_free (settings);
  return g_string_free (text, FALSE);
}

char *
measured_step_csv (const MeasuredStep *step, guint n_ranks)
{
  Csv csv;
  TimelineOp kind;

  csv_begin (&csv, "key,time_us,calls_per_step,bytes,algbw_gb_per_s,busbw_gb_per_s");
  for (MeasuredKey key = 0; key < N_MEASURED; key++)
    {
      const MeasuredTime *time = &step->times[key];
      const gboolean is_collective = measured_key_is_collective (key, &kind);

      if (time->n == 0)
        continue;
      csv_add_text (&csv, measured_key_name (key));
      csv_add_time_us (&csv, measured_mean (time));
      csv_add_number (&csv, calls_per_step (step, time));
      csv_add_number (&csv, is_collective ? (double)time->bytes / (double)time->n : (double)NAN);
      csv_add_number (&csv, is_collective ? algorithm_bandwidth (time) : (double)NAN);
      csv_add_number (&csv, is_collective
                                ? algorithm_bandwidth (time)
                                      * bus_factor (kind, n_ranks > 0 ? n_ranks : world_of (step))
                                : (double)NAN);
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}
