#include <config.h>

#include "report/format.h"
#include "report/recorded_tables.h"
#include "report/text_table.h"

#define MOST_STEPS 12   /* in the table */
#define WORTH      0.02 /* of the median step: a smaller excess needs no reason */
#define PART_WORTH 0.05 /* of the excess */
#define MOST_PARTS 4    /* of a reason */

static int
compare_lengths (gconstpointer a, gconstpointer b)
{
  const RecordedStep *left = *(RecordedStep *const *)a, *right = *(RecordedStep *const *)b;

  if (left->exposure.total != right->exposure.total)
    return left->exposure.total > right->exposure.total ? -1 : 1;
  return left < right ? -1 : left > right;
}

/* RecordedStep *, the longest first and the first of equals. */
static GPtrArray *
steps_by_length (const Recorded *job)
{
  GPtrArray *steps = g_ptr_array_sized_new (job->steps->len);

  for (guint i = 0; i < job->steps->len; i++)
    g_ptr_array_add (steps, &g_array_index (job->steps, RecordedStep, i));
  g_ptr_array_sort (steps, compare_lengths);
  return steps;
}

static guint
number_of (const Recorded *job, const RecordedStep *step)
{
  return (guint)(step - (const RecordedStep *)(gpointer)job->steps->data) + 1;
}

static const char *
ms (char *buffer, SimTime time)
{
  return format_fixed (buffer, 3, 1e3 * sim_time_seconds (time));
}

/* ---- the table ---- */

static void
add_time (TextTable *table, SimTime time)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, ms (buffer, time));
}

static void
add_step (TextTable *table, const Recorded *job, const RecordedStep *step)
{
  g_autofree char *number = g_strdup_printf ("%u", number_of (job, step));
  const Exposure *exposure = &step->exposure;

  text_table_add (table, number);
  add_time (table, step->start);
  add_time (table, exposure->total);
  add_time (table, exposure->compute);
  add_time (table, exposure_exposed (exposure));
  add_time (table, exposure->host_bound);
}

/* All in their order, or the longest of many. */
static void
append_table (const Recorded *job, const GPtrArray *by_length, GString *text)
{
  const gboolean are_many = by_length->len > MOST_STEPS;
  g_autofree char *head
      = are_many ? g_strdup_printf ("the longest of %u steps", by_length->len) : g_strdup ("step");
  const char *const heads[] = { head, "at ms", "ms", "compute", "exposed", "host-bound" };
  g_autoptr (TextTable) table = text_table_new (G_N_ELEMENTS (heads));

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    text_table_add (table, heads[i]);
  for (guint i = 0; i < MIN (by_length->len, MOST_STEPS); i++)
    add_step (table, job,
              are_many ? g_ptr_array_index (by_length, i)
                       : &g_array_index (job->steps, RecordedStep, i));
  text_table_render (table, text);
}

/* ---- what makes the slowest slow ---- */

typedef struct
{
  const char *words;
  SimTime more; /* below 0: less */
} Part;

static int
compare_parts (gconstpointer a, gconstpointer b)
{
  const SimTime left = ABS (((const Part *)a)->more), right = ABS (((const Part *)b)->more);

  return left > right ? -1 : left < right;
}

static void
add_part (GArray *parts, const char *words, SimTime more)
{
  const Part part = { words, more };

  g_array_append_val (parts, part);
}

/* What @one has more of than @other, the most first; the parts sum to the whole difference. */
static GArray *
difference (const Exposure *one, const Exposure *other)
{
  static const char *const words[N_TIMELINE_OPS]
      = { [TIMELINE_ALL_GATHER] = "exposed all-gather",
          [TIMELINE_REDUCE_SCATTER] = "exposed reduce-scatter",
          [TIMELINE_ALL_REDUCE] = "exposed all-reduce",
          [TIMELINE_OTHER_COLLECTIVE] = "other exposed collectives",
          [TIMELINE_FORWARD] = "forward",
          [TIMELINE_RECOMPUTE] = "recompute",
          [TIMELINE_BACKWARD] = "backward",
          [TIMELINE_OPTIMIZER] = "optimizer",
          [TIMELINE_GRAD_CLIP] = "gradient clipping",
          [TIMELINE_COPY] = "copies on the compute stream",
          [TIMELINE_WAIT] = "waits",
          [TIMELINE_COMPUTE] = "compute" };
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));

  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    add_part (parts, words[op],
              timeline_op_is_collective (op) ? one->exposed[op] - other->exposed[op]
                                             : one->busy[op] - other->busy[op]);
  add_part (parts, "host-bound", one->host_bound - other->host_bound);
  g_array_sort (parts, compare_parts);
  return parts;
}

static void
append_reason (const Recorded *job, const GPtrArray *by_length, GString *text)
{
  const RecordedStep *slowest = g_ptr_array_index (by_length, 0);
  const RecordedStep *median = g_ptr_array_index (by_length, by_length->len / 2);
  const SimTime excess = slowest->exposure.total - median->exposure.total;
  g_autoptr (GArray) parts = difference (&slowest->exposure, &median->exposure);
  g_autoptr (GString) line = g_string_new (NULL);
  char time[FORMAT_SIZE], more[FORMAT_SIZE], percent[FORMAT_SIZE];

  if ((double)excess <= WORTH * (double)median->exposure.total)
    return;
  g_string_append_printf (
      line, "step %u is the slowest, %s ms: %s ms (%s %%) more than step %u, the median",
      number_of (job, slowest), ms (time, slowest->exposure.total), ms (more, excess),
      format_fixed (percent, 1, 100 * (double)excess / (double)median->exposure.total),
      number_of (job, median));
  for (guint i = 0; i < MOST_PARTS; i++)
    {
      const Part *part = &g_array_index (parts, Part, i);

      if ((double)ABS (part->more) < PART_WORTH * (double)excess)
        break;
      g_string_append_printf (line, "%s %s %s ms %s", i == 0 ? ":" : ",", part->words,
                              ms (more, ABS (part->more)), part->more > 0 ? "more" : "less");
    }
  text_append_wrapped (text, line->str, 2);
}

void
recorded_append_steps (const Recorded *job, GString *text)
{
  g_autoptr (GPtrArray) by_length = NULL;

  if (job->steps->len < 2)
    return;
  by_length = steps_by_length (job);
  append_table (job, by_length, text);
  append_reason (job, by_length, text);
  g_string_append_c (text, '\n');
}
