/* A recorded run for people. */
#include <config.h>

#include <math.h>

#include "report/format.h"
#include "report/recorded_tables.h"
#include "report/run_table.h"
#include "report/text_table.h"

static void
add_fixed (TextTable *table, guint decimals, double value)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, isnan (value) ? "-" : format_fixed (buffer, decimals, value));
}

static void
add_ms (TextTable *table, double seconds)
{
  add_fixed (table, 3, 1e3 * seconds);
}

static double
percent (double part, double of)
{
  return of > 0 ? 100 * part / of : (double)NAN;
}

static const RecordedRank *
rank_at (const Recorded *job, guint index)
{
  return &g_array_index (job->ranks, RecordedRank, index);
}

static const RecordedRank *
slowest (const Recorded *job)
{
  return rank_at (job, job->slowest);
}

/* ---- the files ---- */

static void
append_file (const RecordedFile *file, GString *text)
{
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "# trace     %s", file->path);
  if (file->rank >= 0)
    g_string_append_printf (line, ", rank %" G_GINT64_FORMAT, file->rank);
  if (file->rank >= 0 && file->world_size > 0)
    g_string_append_printf (line, " of %" G_GINT64_FORMAT, file->world_size);
  if (file->gpu != NULL)
    g_string_append_printf (line, ", %s", file->gpu);
  g_string_append_printf (line,
                          ": %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
                          " kernels, %" G_GUINT64_FORMAT " copies",
                          file->n_events, file->n_kernels, file->n_copies);
  text_append_wrapped (text, line->str, 12);
  g_string_assign (line, "#           NCCL kernels: ");
  for (guint i = 0; i < file->kinds->len; i++)
    g_string_append_printf (line, "%s%s", i == 0 ? "" : ", ",
                            (const char *)g_ptr_array_index (file->kinds, i));
  if (file->kinds->len > 0)
    text_append_wrapped (text, line->str, 12);
  if (file->n_host_collectives > 0)
    g_string_append_printf (
        text, "#           collectives in the host's own records: %" G_GUINT64_FORMAT "\n",
        file->n_host_collectives);
  g_string_free (line, TRUE);
}

static void
append_head (const Recorded *job, GString *text)
{
  for (guint i = 0; i < job->files->len; i++)
    append_file (g_ptr_array_index (job->files, i), text);
  if (job->ranks->len > 0)
    g_string_append_printf (text, "# steps     %u, by %s; units by %s\n", slowest (job)->n_steps,
                            job->steps_by, job->units_by);
}

/* "variant naive: 1388.962 ms a step, 2949.0 tokens/s per GPU, MFU 43.6 %" */
static void
append_title (const Recorded *job, GString *text)
{
  const RecordedRank *rank = slowest (job);
  const Figures *figures = &job->figures;
  char step[FORMAT_SIZE], least[FORMAT_SIZE], most[FORMAT_SIZE], tokens[FORMAT_SIZE],
      mfu[FORMAT_SIZE];

  g_string_append_printf (text, "\n%s: %s ms a step", job->name,
                          format_fixed (step, 3, 1e3 * rank->step_time_s));
  if (rank->n_steps > 1)
    g_string_append_printf (text, " (%s to %s)", format_fixed (least, 3, 1e3 * rank->shortest_s),
                            format_fixed (most, 3, 1e3 * rank->longest_s));
  if (job->ranks->len > 1)
    g_string_append_printf (text, " on the slowest rank, %u", rank->rank);
  if (!isnan (figures->tokens_per_s_per_gpu))
    g_string_append_printf (text, ", %s tokens/s per GPU, MFU %s %%",
                            format_fixed (tokens, 1, figures->tokens_per_s_per_gpu),
                            format_fixed (mfu, 1, figures->mfu_percent));
  g_string_append (text, "\n\n");
}

/* ---- where the step goes ---- */

static void
add_share (TextTable *table, const char *what, double seconds, double of_s)
{
  if (seconds == 0)
    return;
  text_table_add (table, what);
  add_ms (table, seconds);
  add_fixed (table, 1, percent (seconds, of_s));
}

static void
append_parts (const Recorded *job, GString *text)
{
  static const struct
  {
    TimelineOp op;
    const char *words;
  } compute[] = { { TIMELINE_FORWARD, "forward" },
                  { TIMELINE_RECOMPUTE, "recompute" },
                  { TIMELINE_BACKWARD, "backward" },
                  { TIMELINE_OPTIMIZER, "optimizer" },
                  { TIMELINE_GRAD_CLIP, "gradient clipping" },
                  { TIMELINE_COPY, "copies on the compute stream" },
                  { TIMELINE_COMPUTE, "compute, nothing tells what for" } };
  const RecordedRank *rank = slowest (job);
  const double step_s = rank->step_time_s;
  g_autoptr (TextTable) table = text_table_new (3);

  text_table_add (table, "the step, seen from the compute stream");
  text_table_add (table, "ms");
  text_table_add (table, "%");
  add_share (table, "exposed all-gather", rank->exposed_s[TIMELINE_ALL_GATHER], step_s);
  add_share (table, "exposed reduce-scatter", rank->exposed_s[TIMELINE_REDUCE_SCATTER], step_s);
  add_share (table, "exposed all-reduce", rank->exposed_s[TIMELINE_ALL_REDUCE], step_s);
  add_share (table, "exposed other collectives", rank->exposed_s[TIMELINE_OTHER_COLLECTIVE],
             step_s);
  for (guint i = 0; i < G_N_ELEMENTS (compute); i++)
    add_share (table, compute[i].words, job->figures.busy_s[compute[i].op], step_s);
  add_share (table, "host-bound, copies alone", rank->copies_s, step_s);
  add_share (table, "host-bound, idle", rank->host_bound_s - rank->copies_s, step_s);
  add_share (table, "step", step_s, step_s);
  text_table_render (table, text);
  g_string_append_c (text, '\n');
}

/* ---- collectives by kind ---- */

static void
add_kind (TextTable *table, const char *words, const RecordedRank *rank, TimelineOp op)
{
  const double time = rank->collective_s[op];

  if (rank->collective_n[op] == 0)
    return;
  text_table_add (table, words);
  add_fixed (table, 1, rank->collective_n[op]);
  add_ms (table, time);
  add_ms (table, rank->knows_waiting ? rank->waiting_s[op] : (double)NAN);
  add_ms (table, rank->exposed_s[op]);
  add_fixed (table, 1, percent (time - MIN (rank->exposed_s[op], time), time));
}

static void
append_kinds (const Recorded *job, GString *text)
{
  static const char *const heads[]
      = { "collectives a step", "calls", "ms in all", "waiting", "exposed", "hidden %" };
  const RecordedRank *rank = slowest (job);
  g_autoptr (TextTable) table = text_table_new (G_N_ELEMENTS (heads));

  if (recorded_sum (rank->collective_n) == 0)
    {
      g_string_append (text, "no collectives in these steps\n\n");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    text_table_add (table, heads[i]);
  add_kind (table, "all-gather", rank, TIMELINE_ALL_GATHER);
  add_kind (table, "reduce-scatter", rank, TIMELINE_REDUCE_SCATTER);
  add_kind (table, "all-reduce", rank, TIMELINE_ALL_REDUCE);
  add_kind (table, "others", rank, TIMELINE_OTHER_COLLECTIVE);
  text_table_render (table, text);
  g_string_append_c (text, '\n');
}

/* ---- collectives by phase and micro-batch ---- */

typedef struct
{
  guint16 micro_batch;
  guint8 phase;
  double n[N_TIMELINE_OPS], exposed_s;
} PassRow;

static PassRow *
find_pass (GArray *rows, const TimelineLabel *label)
{
  PassRow row = { .micro_batch = label->micro_batch, .phase = label->phase };
  guint at = 0;

  for (; at < rows->len; at++)
    {
      PassRow *other = &g_array_index (rows, PassRow, at);

      if (other->micro_batch == row.micro_batch && other->phase == row.phase)
        return other;
      if (other->micro_batch > row.micro_batch
          || (other->micro_batch == row.micro_batch && other->phase > row.phase))
        break;
    }
  g_array_insert_val (rows, at, row);
  return &g_array_index (rows, PassRow, at);
}

static void
add_pass (TextTable *table, const PassRow *row)
{
  g_autofree char *name
      = g_strdup_printf ("micro-batch %u, %s", row->micro_batch, timeline_phase_name (row->phase));

  text_table_add (table, name);
  add_fixed (table, 1, row->n[TIMELINE_ALL_GATHER]);
  add_fixed (table, 1, row->n[TIMELINE_REDUCE_SCATTER]);
  add_fixed (table, 1, row->n[TIMELINE_ALL_REDUCE]);
  add_ms (table, row->exposed_s);
}

static void
append_passes (const Recorded *job, GString *text)
{
  static const char *const heads[]
      = { "by phase", "all-gathers", "reduce-scatters", "all-reduces", "exposed ms" };
  g_autoptr (TextTable) table = text_table_new (G_N_ELEMENTS (heads));
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (PassRow));

  for (guint i = 0; i < job->collectives->len; i++)
    {
      const RecordedCollective *collective
          = &g_array_index (job->collectives, RecordedCollective, i);
      PassRow *row = find_pass (rows, &collective->label);

      row->n[collective->label.op] += collective->n;
      row->exposed_s += collective->exposed_s;
    }
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    text_table_add (table, heads[i]);
  for (guint i = 0; i < rows->len; i++)
    add_pass (table, &g_array_index (rows, PassRow, i));
  if (rows->len == 0)
    return;
  text_table_render (table, text);
  g_string_append_c (text, '\n');
}

/* ---- redundant all-gathers ---- */

static void
append_unit_range (guint32 first, guint32 last, GString *text)
{
  g_autofree char *first_name = timeline_unit_name (first);
  g_autofree char *last_name = timeline_unit_name (last);

  g_string_append (text, first_name);
  if (last != first)
    g_string_append_printf (text, " to %s", last_name);
}

/* "block.0 to block.31, head" of a micro-batch. */
static void
append_units (const Recorded *job, guint16 micro_batch, GString *text)
{
  const GArray *all = job->redundancies;
  gboolean is_first = TRUE;

  for (guint i = 0; i < all->len; i++)
    {
      const guint32 first = g_array_index (all, RecordedRedundancy, i).unit;
      guint32 last = first;

      if (g_array_index (all, RecordedRedundancy, i).micro_batch != micro_batch)
        continue;
      for (; i + 1 < all->len; i++, last++)
        {
          const RecordedRedundancy *next = &g_array_index (all, RecordedRedundancy, i + 1);

          if (next->unit != last + 1 || next->micro_batch != micro_batch || last < UNIT_FIRST_BLOCK)
            break;
        }
      if (!is_first)
        g_string_append (text, ", ");
      append_unit_range (first, last, text);
      is_first = FALSE;
    }
}

static void
append_micro_batches (const Recorded *job, GString *text)
{
  guint last = G_MAXUINT;

  for (guint i = 0; i < job->redundancies->len; i++)
    {
      const guint16 micro_batch
          = g_array_index (job->redundancies, RecordedRedundancy, i).micro_batch;

      if (micro_batch == last)
        continue;
      if (last != G_MAXUINT)
        g_string_append (text, "; ");
      g_string_append_printf (text, "micro-batch %u: ", micro_batch);
      append_units (job, micro_batch, text);
      last = micro_batch;
    }
}

/* What they cost, summed. */
static RecordedRedundancy
all_redundancies (const Recorded *job)
{
  RecordedRedundancy all = { 0 };

  for (guint i = 0; i < job->redundancies->len; i++)
    {
      const RecordedRedundancy *one = &g_array_index (job->redundancies, RecordedRedundancy, i);

      all.gathers += one->gathers;
      all.gathers_exposed_s += one->gathers_exposed_s;
      all.redundant += one->redundant;
      all.seconds += one->seconds;
      all.exposed_s += one->exposed_s;
    }
  return all;
}

static void
append_redundant (const Recorded *job, const RecordedRedundancy *all, GString *text)
{
  char n[FORMAT_SIZE], of[FORMAT_SIZE], ms[FORMAT_SIZE], exposed[FORMAT_SIZE];
  char pair[FORMAT_SIZE], share[FORMAT_SIZE];
  GString *line = g_string_new (NULL);

  g_string_append_printf (
      line, "redundant all-gathers: %s of %s a step, in the backward of ",
      format_real (n, "%.6g", all->redundant),
      format_real (of, "%.6g", slowest (job)->collective_n[TIMELINE_ALL_GATHER]));
  append_micro_batches (job, line);
  g_string_append_printf (
      line,
      ": gathered to recompute the forward, freed, and gathered again for the backward itself. "
      "The second ones take %s ms a step, %s ms of it exposed; all backward gathers of these "
      "units expose %s ms (%s %% of the step). That is activation checkpointing around the FSDP "
      "unit; inside it (apply_activation_checkpointing) a unit is gathered once.",
      format_fixed (ms, 3, 1e3 * all->seconds), format_fixed (exposed, 3, 1e3 * all->exposed_s),
      format_fixed (pair, 3, 1e3 * all->gathers_exposed_s),
      format_fixed (share, 1, percent (all->gathers_exposed_s, slowest (job)->step_time_s)));
  text_append_wrapped (text, line->str, 2);
  g_string_free (line, TRUE);
}

static void
append_redundancies (const Recorded *job, GString *text)
{
  const RecordedRedundancy all = all_redundancies (job);

  if (all.redundant > 0)
    append_redundant (job, &all, text);
  else if (slowest (job)->collective_n[TIMELINE_ALL_GATHER] > 0 && job->has_units)
    g_string_append (text, "no redundant all-gathers: no unit is gathered twice in a backward\n");
}

/* ---- gaps ---- */

static char *
describe (const Recorded *job, gboolean has_label, const TimelineLabel *label)
{
  const gboolean is_collective = timeline_op_is_collective (label->op);
  g_autofree char *unit = timeline_unit_name (label->unit);

  if (!has_label)
    return g_strdup ("nothing recorded");
  if (label->op == TIMELINE_COMPUTE)
    return g_strdup ("a kernel");
  if (is_collective ? job->has_units : job->has_kernel_units)
    return g_strdup_printf ("%s of %s", timeline_op_name (label->op), unit);
  return g_strdup_printf (is_collective ? "%s" : "a kernel of %s", timeline_op_name (label->op));
}

static void
add_gap (TextTable *table, const Recorded *job, const RecordedGap *gap)
{
  g_autofree char *before = describe (job, gap->has_before, &gap->before);
  g_autofree char *after = describe (job, gap->has_after, &gap->after);
  g_autofree char *place = g_strdup_printf ("between %s and %s", before, after);

  text_table_add (table, place);
  add_ms (table, sim_time_seconds (gap->length));
  add_fixed (table, 0, gap->step + 1.0);
  add_ms (table, sim_time_seconds (gap->start));
}

static void
append_gaps (const Recorded *job, GString *text)
{
  g_autoptr (TextTable) table = text_table_new (4);

  if (job->gaps->len == 0)
    return;
  text_table_add (table, "longest host-bound gaps");
  text_table_add (table, "ms");
  text_table_add (table, "step");
  text_table_add (table, "at ms");
  for (guint i = 0; i < job->gaps->len; i++)
    add_gap (table, job, &g_array_index (job->gaps, RecordedGap, i));
  text_table_render (table, text);
  g_string_append_c (text, '\n');
}

/* ---- the whole ---- */

static void
append_verdict (const Recorded *job, GString *text)
{
  const RecordedRank *rank = slowest (job);
  const double step_s = rank->step_time_s, all_s = recorded_sum (rank->collective_s);
  const double exposed_s = recorded_sum (rank->exposed_s);
  char exposed[FORMAT_SIZE], host[FORMAT_SIZE], hidden[FORMAT_SIZE];

  g_string_append_printf (text, "%s %% of the step is exposed communication, %s %% host-bound",
                          format_fixed (exposed, 1, percent (exposed_s, step_s)),
                          format_fixed (host, 1, percent (rank->host_bound_s, step_s)));
  if (all_s > 0)
    g_string_append_printf (
        text, "; %s %% of communication is hidden",
        format_fixed (hidden, 1, percent (all_s - MIN (exposed_s, all_s), all_s)));
  g_string_append_c (text, '\n');
}

static void
append_job (const Recorded *job, GString *text)
{
  if (job->ranks->len == 0)
    {
      g_string_append_printf (
          text, "\n%s: no work of a GPU in it, so there is no step to measure\n", job->name);
      return;
    }
  append_title (job, text);
  append_parts (job, text);
  append_kinds (job, text);
  append_passes (job, text);
  if (job->figures.n_units > 0 && job->has_units)
    run_table_append_collectives (&job->figures, text);
  recorded_append_steps (job, text);
  recorded_append_ranks (job, text);
  append_gaps (job, text);
  append_redundancies (job, text);
  append_verdict (job, text);
}

char *
recorded_table (const GPtrArray *jobs)
{
  GString *text = g_string_new ("# " PACKAGE_STRING "\n");

  for (guint i = 0; i < jobs->len; i++)
    append_head (g_ptr_array_index (jobs, i), text);
  for (guint i = 0; i < jobs->len; i++)
    append_job (g_ptr_array_index (jobs, i), text);
  return g_string_free (text, FALSE);
}
