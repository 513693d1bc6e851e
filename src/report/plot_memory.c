#include <config.h>

#include "report/csv.h"
#include "report/files.h"
#include "report/format.h"
#include "report/plot_memory.h"
#include "report/plot_text.h"

#define N_BINS 1132 /* pixels of the axis: of more levels each shows its highest */

/* What lives longest lies lowest. */
static const MemoryKind stack[N_MEMORY_KINDS]
    = { MEMORY_PARAMS,           MEMORY_GRADS,           MEMORY_OPTIMIZER,    MEMORY_ACTIVATIONS,
        MEMORY_UNSHARDED_PARAMS, MEMORY_UNSHARDED_GRADS, MEMORY_COMM_BUFFERS, MEMORY_OTHER };

static guint
n_levels (const ResultsVariant *variant)
{
  return variant->memory == NULL ? 0 : variant->memory->len;
}

static const ResultsMemory *
level_at (const ResultsVariant *variant, guint index)
{
  return &g_array_index (variant->memory, ResultsMemory, index);
}

/* ---- levels ---- */

/* The levels from one time to another, the one held at the beginning first. */
static GArray *
levels_between (const ResultsVariant *variant, SimTime from, SimTime to)
{
  GArray *levels = g_array_new (FALSE, FALSE, sizeof (ResultsMemory));

  for (guint i = 0; i < n_levels (variant) && level_at (variant, i)->time < to; i++)
    {
      ResultsMemory level = *level_at (variant, i);

      if (level.time <= from)
        g_array_set_size (levels, 0);
      level.time = MAX (level.time, from);
      g_array_append_val (levels, level);
    }
  return levels;
}

/* Of each pixel the highest, at its left edge; and the last of all. */
static void
thin_out (GArray *levels, SimTime from, SimTime to)
{
  const double bin_time = (double)(to - from) / N_BINS;
  const ResultsMemory last = g_array_index (levels, ResultsMemory, levels->len - 1);
  guint n_kept = 0, last_bin = G_MAXUINT;

  for (guint i = 0; i < levels->len; i++)
    {
      const ResultsMemory *level = &g_array_index (levels, ResultsMemory, i);
      ResultsMemory *kept = &g_array_index (levels, ResultsMemory, n_kept - (n_kept > 0));
      const guint bin = (guint)((double)(level->time - from) / bin_time);

      if (bin == last_bin && level->allocated <= kept->allocated)
        continue;
      if (bin != last_bin)
        kept = &g_array_index (levels, ResultsMemory, n_kept++);
      *kept = *level;
      kept->time = from + (SimTime)(bin * bin_time);
      last_bin = bin;
    }
  g_array_set_size (levels, n_kept);
  g_array_append_val (levels, last);
}

static void
add_level (Csv *csv, SimTime time, const ResultsMemory *level)
{
  double sum = 0;

  csv_add_number (csv, 1e3 * sim_time_seconds (time));
  for (guint i = 0; i < N_MEMORY_KINDS; i++)
    {
      sum += level->by_kind[stack[i]];
      csv_add_number (csv, sum / 0x1p30);
    }
  csv_end_row (csv);
}

char *
plot_memory_csv (const ResultsVariant *variant, SimTime from, SimTime to)
{
  g_autoptr (GArray) levels = levels_between (variant, from, to);
  g_autoptr (GString) header = g_string_new ("time_ms");
  Csv csv;

  for (guint i = 0; i < N_MEMORY_KINDS; i++)
    g_string_append_printf (header, ",to_%s_gib", memory_kind_name (stack[i]));
  csv_begin (&csv, header->str);
  if (levels->len > 2 * N_BINS)
    thin_out (levels, from, to);
  for (guint i = 0; i < levels->len; i++)
    {
      const ResultsMemory *level = &g_array_index (levels, ResultsMemory, i);

      add_level (&csv, level->time, level);
      add_level (&csv, i + 1 < levels->len ? level[1].time : to, level);
    }
  return csv_finish (&csv);
}

/* ---- scripts ---- */

static double
peak_gib (const ResultsVariant *variant, SimTime from, SimTime to)
{
  g_autoptr (GArray) levels = levels_between (variant, from, to);
  double peak = 0;

  for (guint i = 0; i < levels->len; i++)
    peak = MAX (peak, g_array_index (levels, ResultsMemory, i).allocated);
  return peak / 0x1p30;
}

static double
capacity_gib (const ResultsVariant *variant)
{
  return variant->capacity_bytes > 0 ? variant->capacity_bytes / 0x1p30 : 0;
}

/* All that the host does in a step, by its clock. */
static void
span_of_host (const ResultsVariant *variant, SimTime *from, SimTime *to)
{
  *from = level_at (variant, 0)->time;
  *to = level_at (variant, n_levels (variant) - 1)->time;
  *to += MAX (1, (*to - *from) / 25);
}

void
plot_memory_panel_span (const ResultsVariant *variant, SimTime *from, SimTime *to)
{
  *from = 0;
  *to = timeline_end (variant->timeline);
  if (n_levels (variant) > 0
      && peak_gib (variant, *from, *to) < peak_gib (variant, SIM_TIME_NONE, SIM_TIME_MAX))
    span_of_host (variant, from, to);
}

void
plot_memory_set (GString *script, const ResultsVariant *variant)
{
  SimTime from, to;

  plot_memory_panel_span (variant, &from, &to);
  plot_text_set_number (script, "memory_from_ms", 1e3 * sim_time_seconds (from));
  plot_text_set_number (script, "memory_to_ms", 1e3 * sim_time_seconds (to));
  plot_text_set_number (script, "capacity_gib", capacity_gib (variant));
  plot_text_set_number (script, "peak_gib", peak_gib (variant, from, to));
}

static char *
owners_held (const ResultsVariant *variant)
{
  GString *owners = g_string_new (NULL);

  for (guint k = 0; k < N_MEMORY_KINDS; k++)
    for (guint i = 0; i < n_levels (variant); i++)
      if (level_at (variant, i)->by_kind[stack[k]] > 0)
        {
          g_string_append_printf (owners, " %s", memory_kind_name (stack[k]));
          break;
        }
  return g_string_free (owners, FALSE);
}

static char *
subtitle_of (const ResultsVariant *variant, double highest_gib)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char number[FORMAT_SIZE];

  g_string_append_printf (text, "memory of rank %u by owner; peak of the step %s GiB allocated",
                          variant->rank, format_fixed (number, 1, highest_gib));
  g_string_append_printf (text, ", of the run %s GiB reserved",
                          format_fixed (number, 1, variant->peak_reserved_bytes / 0x1p30));
  if (capacity_gib (variant) > 0)
    g_string_append_printf (text, "; PyTorch can have %s GiB",
                            format_fixed (number, 1, capacity_gib (variant)));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
plot_memory_add (Pictures *pictures, const ResultsVariant *variant, const char *file,
                 GError **error)
{
  const double highest_gib = peak_gib (variant, SIM_TIME_NONE, SIM_TIME_MAX);
  g_autofree char *name = g_strdup_printf ("memory-%s", file);
  g_autofree char *data_name = g_strdup_printf ("memory-%s.csv", file);
  g_autofree char *title
      = g_strdup_printf ("%s: %s", picture_title (pictures->results), variant->name);
  g_autofree char *stamp = picture_stamp (pictures->results, variant->row, 1);
  g_autofree char *subtitle = NULL, *held = NULL, *data = NULL;
  SimTime from, to;
  GString *script;

  if (n_levels (variant) == 0 || !(highest_gib > 0))
    return TRUE;
  span_of_host (variant, &from, &to);
  data = plot_memory_csv (variant, from, to);
  held = owners_held (variant);
  subtitle = subtitle_of (variant, highest_gib);
  script = picture_begin (pictures, name, title, subtitle, stamp);
  plot_text_set (script, "memory", data_name);
  plot_text_set (script, "held", held);
  plot_text_set_number (script, "from_ms", 1e3 * sim_time_seconds (from));
  plot_text_set_number (script, "to_ms", 1e3 * sim_time_seconds (to));
  plot_text_set_number (script, "capacity_gib", capacity_gib (variant));
  plot_text_set_number (script, "peak_gib", highest_gib);
  if (files_write (pictures->folder, data_name, data, error))
    return picture_end (pictures, script, "memory", error);
  g_string_free (script, TRUE);
  return FALSE;
}
