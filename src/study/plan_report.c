#include <config.h>

#include "study/plan_report.h"

#include <math.h>
#include <string.h>

#include "config/units.h"
#include "report/format.h"
#include "report/goodput.h"
#include "report/json_members.h"
#include "report/summary.h"
#include "report/text_table.h"
#include "study/plan_why.h"

#define HASH_DIGITS 12
#define MOST_SHOWN  10

/* ---- settings in few letters ---- */

static gboolean
is_hybrid (const FsdpConfig *fsdp)
{
  return fsdp->strategy == STRATEGY_HYBRID_SHARD || fsdp->strategy == STRATEGY_HYBRID_SHARD_ZERO2;
}

char *
plan_sharding_words (const Scenario *scenario)
{
  const FsdpConfig *fsdp = &scenario->fsdp;
  GString *text = g_string_new (ShardingStrategy_words[fsdp->strategy]);

  if (fsdp->api == API_DDP)
    return g_string_free (g_string_assign (text, "ddp"), FALSE);
  if (is_hybrid (fsdp))
    g_string_append_printf (text, "/%u", fsdp->shard_group_size);
  if (fsdp->api == API_FSDP2 && fsdp->reshard_after_forward == RESHARD_FALSE)
    g_string_append (text, ", kept");
  if (fsdp->cpu_offload)
    g_string_append (text, ", offload");
  return g_string_free (text, FALSE);
}

char *
plan_checkpointing_words (const Scenario *scenario)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;

  if (checkpoint->method == CHECKPOINT_NONE)
    return g_strdup ("none");
  if (checkpoint->select_op)
    return g_strdup ("op");
  if (checkpoint->select_children)
    return g_strdup ("children");
  return checkpoint->every > 1 ? g_strdup_printf ("every:%u", checkpoint->every) : g_strdup ("all");
}

char *
plan_prefetch_words (const Scenario *scenario)
{
  static const char *const backward[] = {
    [PREFETCH_BACKWARD_PRE] = "PRE", [PREFETCH_BACKWARD_POST] = "POST", [PREFETCH_NONE] = "none"
  };
  const FsdpConfig *fsdp = &scenario->fsdp;

  if (fsdp->api != API_FSDP1)
    return g_strdup ("-");
  return g_strconcat (backward[fsdp->backward_prefetch], fsdp->forward_prefetch ? "+forward" : NULL,
                      NULL);
}

/* ---- the head ---- */

static void append_limit (GString *text, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
append_limit (GString *text, const char *format, ...)
{
  va_list arguments;

  if (text->len > 0)
    g_string_append (text, ", ");
  va_start (arguments, format);
  g_string_append_vprintf (text, format, arguments);
  va_end (arguments);
}

char *
plan_describe_limits (const PlanLimits *limits)
{
  GString *text = g_string_new (NULL);
  char buffer[FORMAT_SIZE];
  g_autofree char *tokens = units_format (UNIT_KIND_TOKENS, limits->tokens);

  if (limits->max_gpus > 0)
    append_limit (text, "at most %u GPUs", limits->max_gpus);
  if (limits->tokens > 0)
    append_limit (text, "%s tokens", tokens);
  if (limits->deadline_s > 0)
    append_limit (text, "in %s days",
                  format_real (buffer, "%.4g", limits->deadline_s / SECONDS_PER_DAY));
  if (limits->budget > 0)
    append_limit (text, "for at most %s", format_real (buffer, "%.6g", limits->budget));
  if (limits->global_batch > 0)
    append_limit (text, "a global batch of %u sequences", limits->global_batch);
  append_limit (text, "%s %% of the memory stays free",
                format_real (buffer, "%.3g", 100 * limits->headroom));
  return g_string_free (text, FALSE);
}

/* Of those that had to be looked at; @counts: by PlanVerdict. */
static gsize
count_candidates (const Plan *plan, guint counts[PLAN_FITS + 1])
{
  const gsize n = grid_n_cells (plan_grid (plan));

  for (gsize cell = 0; cell < n; cell++)
    counts[plan_candidate (plan, cell)->verdict]++;
  return n - counts[PLAN_NOT_NEEDED];
}

static void
append_counts (const Plan *plan, GString *text)
{
  guint counts[PLAN_FITS + 1] = { 0 };
  const gsize n = count_candidates (plan, counts);

  g_string_append_printf (
      text,
      "# searched  %zu candidates: %u fit, %u do not, %u ruled out by memory beforehand, %u "
      "impossible or alike\n",
      n, counts[PLAN_FITS], counts[PLAN_DOES_NOT_FIT],
      counts[PLAN_TOO_BIG] + counts[PLAN_NOT_REACHED],
      counts[PLAN_IMPOSSIBLE] + counts[PLAN_ALIKE]);
}

/* How long a sequence is, where that is not searched. */
static void
append_sequence (const Plan *plan, GString *text)
{
  const Grid *grid = plan_grid (plan);
  guint n;
  const PlanChoice *choices = plan_choices (plan, &n);

  for (guint k = 0; k < grid_n_keys (grid); k++)
    if (strcmp (grid_key (grid, k)->key, "seq_len") == 0)
      return;
  if (n == 0)
    return;
  const Scenario *scenario = &choices[0].scenario;
  if (model_has_encoder (&scenario->model))
    g_string_append_printf (text, "# sequences of %u + %u tokens (encoder + decoder)\n",
                            scenario->training.encoder_seq_len, scenario->training.seq_len);
  else
    g_string_append_printf (text, "# sequences of %u tokens\n", scenario->training.seq_len);
}

static void
append_head (const Plan *plan, const ReportScenario *scenario, GString *text)
{
  const PlanLimits *limits = plan_limits (plan);
  g_autofree char *words = plan_describe_limits (limits);

  g_string_append_printf (text,
                          "# " PACKAGE_STRING "\n# plan      %s%s(%s, %.*s)\n# limits    %s\n",
                          scenario->title, scenario->title[0] != '\0' ? " " : "",
                          scenario->scenario_name, HASH_DIGITS, scenario->sha256, words);
  append_counts (plan, text);
  append_sequence (plan, text);
  g_string_append_printf (text, "# ranked    by %s\n",
                          limits->deadline_s > 0 ? "GPU hours, of those in time"
                          : limits->budget > 0   ? "tokens a second, of those within the budget"
                                                 : "tokens a second");
}

/* ---- the table ---- */

static void
add_number (TextTable *table, guint decimals, double value)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, isnan (value) ? "-" : format_fixed (buffer, decimals, value));
}

static void
add_count (TextTable *table, guint value)
{
  g_autofree char *text = g_strdup_printf ("%u", value);

  text_table_add (table, text);
}

static void
add_words (TextTable *table, char *(*words) (const Scenario *scenario), const Scenario *scenario)
{
  g_autofree char *text = words (scenario);

  text_table_add (table, text);
}

static gboolean
has_intervals (const Plan *plan)
{
  guint n;
  const PlanChoice *choices = plan_choices (plan, &n);

  for (guint i = 0; i < n; i++)
    if (!isnan (choices[i].run.figures.step_time_low_s))
      return TRUE;
  return FALSE;
}

static guint
n_columns (const Plan *plan, const GArray *others)
{
  const PlanLimits *limits = plan_limits (plan);

  return 13 + others->len + has_intervals (plan) + plan_counts_failures (plan)
         + (limits->tokens > 0 ? 2 : 0) + (limits->price_per_gpu_hour > 0);
}

/* Keys that have no column of their own: guint. */
static GArray *
other_keys (const Plan *plan)
{
  const Grid *grid = plan_grid (plan);
  GArray *others = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint k = 0; k < grid_n_keys (grid); k++)
    if (plan_why_is_own_aspect (grid_key (grid, k)))
      g_array_append_val (others, k);
  return others;
}

static void
add_table_head (TextTable *table, const Plan *plan, const GArray *others)
{
  static const char *const over[] = { "", "", "micro", "grad", "", "check-", "", "step" };
  static const char *const under[]
      = { "nodes", "GPUs", "batch", "accum", "sharding", "points", "prefetch", "ms" };
  const PlanLimits *limits = plan_limits (plan);

  for (guint line = 0; line < 2; line++)
    {
      text_table_add (table, "");
      for (guint i = 0; i < G_N_ELEMENTS (over); i++)
        text_table_add (table, line == 0 ? over[i] : under[i]);
      if (has_intervals (plan))
        text_table_add (table, line == 0 ? "90 %" : "interval");
      text_table_add (table, line == 0 ? "" : "tokens/s");
      text_table_add (table, line == 0 ? "" : "MFU %");
      text_table_add (table, line == 0 ? "peak" : "GiB");
      for (guint i = 0; i < others->len; i++)
        {
          const KeyInfo *key = grid_key (plan_grid (plan), g_array_index (others, guint, i));

          text_table_add (table, line == 0 ? key->section : key->key);
        }
      if (plan_counts_failures (plan))
        text_table_add (table, line == 0 ? "effec-" : "tive %");
      if (limits->tokens > 0)
        {
          text_table_add (table, line == 0 ? "" : "days");
          text_table_add (table, line == 0 ? "GPU" : "hours");
        }
      if (limits->price_per_gpu_hour > 0)
        text_table_add (table, line == 0 ? "" : "cost");
      text_table_add (table, line == 0 ? "" : "front");
    }
}

/* "1407-1578" */
static void
add_interval (TextTable *table, const Figures *figures)
{
  char low[FORMAT_SIZE], high[FORMAT_SIZE];
  g_autofree char *text
      = g_strdup_printf ("%s-%s", format_fixed (low, 0, 1e3 * figures->step_time_low_s),
                         format_fixed (high, 0, 1e3 * figures->step_time_high_s));

  text_table_add (table, isnan (figures->step_time_low_s) ? "-" : text);
}

static void
add_choice (TextTable *table, const Plan *plan, const PlanChoice *choice, guint rank,
            const GArray *others)
{
  const PlanLimits *limits = plan_limits (plan);
  const Figures *figures = &choice->run.figures;

  add_count (table, rank);
  add_count (table, choice->job.nodes);
  add_count (table, choice->run.facts.n_ranks);
  add_count (table, choice->job.micro_batch);
  add_count (table, choice->job.grad_accum);
  add_words (table, plan_sharding_words, &choice->scenario);
  add_words (table, plan_checkpointing_words, &choice->scenario);
  add_words (table, plan_prefetch_words, &choice->scenario);
  add_number (table, 1, 1e3 * figures->step_time_s);
  if (has_intervals (plan))
    add_interval (table, figures);
  add_number (table, 0, figures->tokens_per_s);
  add_number (table, 1, figures->mfu_percent);
  add_number (table, 1, (double)figures->peak_reserved_bytes / 0x1p30);
  for (guint i = 0; i < others->len; i++)
    text_table_add (table,
                    grid_value (plan_grid (plan), choice->cell, g_array_index (others, guint, i)));
  if (plan_counts_failures (plan))
    add_number (table, 1, 100 * goodput_of (&choice->run.facts, figures).ratio);
  if (limits->tokens > 0)
    {
      add_number (table, choice->expense.days < 100 ? 2 : 0, choice->expense.days);
      add_number (table, 0, choice->expense.gpu_hours);
    }
  if (limits->price_per_gpu_hour > 0)
    add_number (table, 0, choice->expense.cost);
  text_table_add (table, choice->is_on_front ? "*" : "");
}

/* The first ten, and below them the rest of the front. */
static void
append_table (const Plan *plan, GString *text)
{
  guint n;
  const PlanChoice *choices = plan_choices (plan, &n);
  g_autoptr (GArray) others = other_keys (plan);
  g_autoptr (TextTable) table = text_table_new (n_columns (plan, others));

  add_table_head (table, plan, others);
  for (guint i = 0; i < n; i++)
    if (i < MOST_SHOWN || choices[i].is_on_front)
      add_choice (table, plan, &choices[i], i + 1, others);
  g_string_append_c (text, '\n');
  text_table_render (table, text);
  g_string_append_printf (
      text, "(* none is both faster and cheaper in GPU hours; all such are shown%s)\n\n",
      plan_counts_failures (plan) ? "; ranks, days and hours count failures and restarts" : "");
}

char *
plan_report_table (const Plan *plan, const ReportScenario *scenario)
{
  GString *text = g_string_new (NULL);
  guint n;

  append_head (plan, scenario, text);
  plan_choices (plan, &n);
  if (n > 0)
    append_table (plan, text);
  else
    g_string_append_c (text, '\n');
  plan_why_append (plan, text);
  return g_string_free (text, FALSE);
}

/* ---- for programs ---- */

static guint64
global_batch (const PlanChoice *choice)
{
  return (guint64)choice->job.micro_batch * choice->job.grad_accum * choice->run.facts.n_ranks;
}

char *
plan_report_csv (const Plan *plan, const ReportScenario *scenario)
{
  const Grid *grid = plan_grid (plan);
  const SummaryExtras extras
      = { .budget = { plan_limits (plan)->tokens, plan_limits (plan)->price_per_gpu_hour } };
  guint n;
  const PlanChoice *choices = plan_choices (plan, &n);
  g_autofree char *columns = summary_columns (&extras);
  g_autoptr (GString) header = g_string_new (NULL);
  Csv csv;

  for (guint k = 0; k < grid_n_keys (grid); k++)
    g_string_append_printf (header, "%s.%s,", grid_key (grid, k)->section, grid_key (grid, k)->key);
  g_string_append_printf (header, "%s,gpus,global_batch,meets_limits,on_front%s", columns,
                          plan_counts_failures (plan) ? GOODPUT_COLUMNS : "");
  csv_begin (&csv, header->str);
  for (guint i = 0; i < n; i++)
    {
      for (guint k = 0; k < grid_n_keys (grid); k++)
        csv_add_text (&csv, grid_value (grid, choices[i].cell, k));
      summary_add_fields (&csv, choices[i].scenario.variant, scenario, &choices[i].run, &extras);
      csv_add_integer (&csv, choices[i].run.facts.n_ranks);
      csv_add_integer (&csv, (gint64)global_batch (&choices[i]));
      csv_add_integer (&csv, choices[i].meets_limits);
      csv_add_integer (&csv, choices[i].is_on_front);
      if (plan_counts_failures (plan))
        goodput_add_fields (&choices[i].run.facts, &choices[i].run.figures, &csv);
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

static void
add_json_choice (JsonBuilder *builder, const Plan *plan, const PlanChoice *choice)
{
  const Grid *grid = plan_grid (plan);
  const Figures *figures = &choice->run.figures;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "settings");
  json_builder_begin_object (builder);
  for (guint k = 0; k < grid_n_keys (grid); k++)
    {
      g_autofree char *name
          = g_strconcat (grid_key (grid, k)->section, ".", grid_key (grid, k)->key, NULL);

      json_member_text (builder, name, grid_value (grid, choice->cell, k));
    }
  json_builder_end_object (builder);
  json_member_whole (builder, "gpus", choice->run.facts.n_ranks);
  json_member_whole (builder, "global_batch", (gint64)global_batch (choice));
  json_member_number (builder, "step_time_s", figures->step_time_s);
  json_member_number (builder, "step_time_low_s", figures->step_time_low_s);
  json_member_number (builder, "step_time_high_s", figures->step_time_high_s);
  json_member_number (builder, "tokens_per_s", figures->tokens_per_s);
  json_member_number (builder, "tokens_per_s_per_gpu", figures->tokens_per_s_per_gpu);
  json_member_number (builder, "mfu_percent", figures->mfu_percent);
  json_member_whole (builder, "peak_allocated_bytes", figures->peak_allocated_bytes);
  json_member_whole (builder, "peak_reserved_bytes", figures->peak_reserved_bytes);
  json_member_whole (builder, "capacity_bytes", choice->run.facts.capacity_bytes);
  if (plan_limits (plan)->tokens > 0)
    {
      json_member_number (builder, "days", choice->expense.days);
      json_member_number (builder, "gpu_hours", choice->expense.gpu_hours);
    }
  if (plan_limits (plan)->price_per_gpu_hour > 0)
    json_member_number (builder, "cost", choice->expense.cost);
  if (plan_counts_failures (plan))
    {
      const Goodput goodput = goodput_of (&choice->run.facts, figures);

      json_member_number (builder, "goodput_percent", 100 * goodput.ratio);
      json_member_number (builder, "effective_tokens_per_s", goodput.ratio * figures->tokens_per_s);
      json_member_number (builder, "checkpoint_interval_s", goodput.interval_s);
      json_member_number (builder, "failures_per_day", goodput.failures_per_day);
    }
  json_member_whole (builder, "meets_limits", choice->meets_limits);
  json_member_whole (builder, "on_front", choice->is_on_front);
  json_builder_end_object (builder);
}

char *
plan_report_json (const Plan *plan, const ReportScenario *scenario)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *limits = plan_describe_limits (plan_limits (plan));
  guint counts[PLAN_FITS + 1] = { 0 };
  guint n;
  const PlanChoice *choices = plan_choices (plan, &n);

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_member_text (builder, "scenario", scenario->scenario_name);
  json_member_text (builder, "title", scenario->title);
  json_member_text (builder, "scenario_sha256", scenario->sha256);
  json_member_text (builder, "limits", limits);
  json_member_whole (builder, "candidates", (gint64)count_candidates (plan, counts));
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, "choices");
  json_builder_begin_array (builder);
  for (guint i = 0; i < n; i++)
    add_json_choice (builder, plan, &choices[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}
