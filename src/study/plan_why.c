#include <config.h>

#include "study/plan_why.h"

#include <math.h>
#include <string.h>

#include "report/deltas.h"
#include "report/format.h"
#include "report/text_table.h"
#include "study/plan_memory.h"
#include "study/plan_report.h"

/* ---- what belongs together ---- */

typedef struct
{
  const char *name;
  const char *keys[4];
  char *(*words) (const Scenario *scenario); /* NULL: the key's value */
  gboolean is_last_resort; /* tried only where it takes less memory to fit: no word of it if not */
} Aspect;

static const Aspect aspects[] = {
  { "nodes", { "cluster.nodes" }, NULL, FALSE },
  { "micro-batch", { "training.micro_batch" }, NULL, FALSE },
  { "offload", { "fsdp.cpu_offload" }, NULL, TRUE },
  { "sharding",
    { "fsdp.sharding_strategy", "fsdp.shard_group_size", "fsdp.reshard_after_forward" },
    plan_sharding_words,
    FALSE },
  { "checkpointing",
    { "activation_checkpointing.method", "activation_checkpointing.select",
      "activation_checkpointing.use_reentrant" },
    plan_checkpointing_words,
    FALSE },
  { "prefetch", { "fsdp.backward_prefetch", "fsdp.forward_prefetch" }, plan_prefetch_words, FALSE },
};

static gboolean
has_key (const Aspect *aspect, const KeyInfo *key)
{
  g_autofree char *name = g_strconcat (key->section, ".", key->key, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (aspect->keys) && aspect->keys[i] != NULL; i++)
    if (strcmp (aspect->keys[i], name) == 0)
      return TRUE;
  return FALSE;
}

gboolean
plan_why_is_own_aspect (const KeyInfo *key)
{
  if (strcmp (key->section, "training") == 0 && strcmp (key->key, "grad_accum") == 0)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (aspects); i++)
    if (has_key (&aspects[i], key))
      return FALSE;
  return TRUE;
}

/* The grid's keys of an aspect; returns their number. */
static guint
find_keys (const Plan *plan, const Aspect *aspect, guint keys[4])
{
  const Grid *grid = plan_grid (plan);
  guint n = 0;

  for (guint k = 0; k < grid_n_keys (grid) && n < 4; k++)
    if (has_key (aspect, grid_key (grid, k)))
      keys[n++] = k;
  return n;
}

/* ---- against the best that has it otherwise ---- */

/* What is compared: tokens a second, or GPU hours where there is a deadline. */
static double
gain_percent (const Plan *plan, gsize best, gsize other)
{
  const PlanCandidate *a = plan_candidate (plan, best), *b = plan_candidate (plan, other);

  if (plan_limits (plan)->deadline_s > 0)
    return 100 * (a->tokens_per_s / a->n_ranks / (b->tokens_per_s / b->n_ranks) - 1);
  return 100 * (a->tokens_per_s / b->tokens_per_s - 1);
}

static char *
words_of (const Plan *plan, const Aspect *aspect, guint key, gsize cell)
{
  g_autofree char *reason G_GNUC_UNUSED = NULL;
  Scenario scenario;
  char *text;

  if (aspect == NULL || aspect->words == NULL)
    return g_strdup (grid_value (plan_grid (plan), cell, key));
  plan_fill (plan, cell, &scenario);
  text = aspect->words (&scenario);
  cells_clear_scenario (&scenario);
  /* cppcheck-suppress returnDanglingLifetime ; a text of its own */
  return text;
}

static gboolean
has_choice (const Plan *plan, const guint *keys, guint n_keys)
{
  const Grid *grid = plan_grid (plan);

  for (guint k = 0; k < n_keys; k++)
    for (guint n = 1; n < grid_n_values (grid, keys[k]); n++)
      if (strcmp (grid_nth_value (grid, keys[k], n), grid_nth_value (grid, keys[k], 0)) != 0)
        return TRUE;
  return FALSE;
}

/* "checkpointing none: 21.3 % more tokens/s than op, the best with another" */
static void
append_comparison (const Plan *plan, const PlanChoice *best, const char *name, const Aspect *aspect,
                   const guint *keys, guint n_keys, GString *text)
{
  const gboolean by_cost = plan_limits (plan)->deadline_s > 0;
  g_autofree char *own = words_of (plan, aspect, keys[0], best->cell);
  g_autofree char *line = NULL;
  g_autofree char *theirs = NULL;
  char buffer[FORMAT_SIZE];
  double gain;
  gsize other;

  if (!has_choice (plan, keys, n_keys))
    return;
  if (!plan_best_other (plan, best->cell, keys, n_keys, &other))
    {
      if (aspect != NULL && aspect->is_last_resort && !best->scenario.fsdp.cpu_offload)
        return;
      line = g_strdup_printf ("  %s %s: no other fits.", name, own);
      text_append_wrapped (text, line, 4);
      return;
    }
  theirs = words_of (plan, aspect, keys[0], other);
  gain = gain_percent (plan, best->cell, other);
  if (fabs (gain) < 0.05)
    line = g_strdup_printf ("  %s %s: as good as %s.", name, own, theirs);
  else
    line = g_strdup_printf ("  %s %s: %s %% %s than the best with another, %s.", name, own,
                            format_fixed (buffer, 1, fabs (gain)),
                            by_cost
                                ? (gain > 0 ? "more tokens a GPU hour" : "fewer tokens a GPU hour")
                                : (gain > 0 ? "faster" : "slower"),
                            theirs);
  text_append_wrapped (text, line, 4);
}

static void
append_comparisons (const Plan *plan, const PlanChoice *best, GString *text)
{
  const Grid *grid = plan_grid (plan);
  guint keys[4];

  g_string_append (text, "Why the first:\n");
  for (guint i = 0; i < G_N_ELEMENTS (aspects); i++)
    {
      const guint n = find_keys (plan, &aspects[i], keys);

      if (n > 0)
        append_comparison (plan, best, aspects[i].name, &aspects[i], keys, n, text);
    }
  for (guint k = 0; k < grid_n_keys (grid); k++)
    if (plan_why_is_own_aspect (grid_key (grid, k)))
      append_comparison (plan, best, grid_key (grid, k)->key, NULL, &k, 1, text);
}

/* ---- what limits it ---- */

static MemoryKind
largest_owner (const Figures *figures)
{
  const MemoryPeak *peak = &figures->memory.peaks[figures->memory.phase];
  MemoryKind most = 0;

  for (MemoryKind kind = 0; kind < N_MEMORY_KINDS; kind++)
    if (peak->by_kind[kind] > peak->by_kind[most])
      most = kind;
  return most;
}

/* "backward 52 %, forward 26 %, exposed reduce-scatter 9 %": the parts over a hundredth. */
static void
append_parts (const Figures *figures, GString *text)
{
  double parts_s[N_STEP_PARTS];
  guint told = 0;

  step_parts (figures, parts_s);
  for (guint n = 0; n < N_STEP_PARTS; n++)
    {
      guint most = N_STEP_PARTS;

      for (guint part = 0; part < N_STEP_PARTS; part++)
        if ((told & (1u << part)) == 0 && (most == N_STEP_PARTS || parts_s[part] > parts_s[most]))
          most = part;
      if (most == N_STEP_PARTS || parts_s[most] < 0.01 * figures->step_time_s)
        return;
      g_string_append_printf (text, "%s%s %.0f %%", n > 0 ? ", " : "", step_part_words (most),
                              100 * parts_s[most] / figures->step_time_s);
      told |= 1u << most;
    }
}

static void
append_memory (const Plan *plan, const PlanChoice *best, GString *text)
{
  const Figures *figures = &best->run.figures;
  const gint64 capacity = best->run.facts.capacity_bytes;
  char reserved[FORMAT_SIZE], usable[FORMAT_SIZE];

  g_string_append_printf (
      text, " Memory: %s of the %s GiB that may be used, most of it %s.",
      format_gib (reserved, figures->peak_reserved_bytes),
      format_gib (usable, plan_usable_bytes (capacity, plan_limits (plan)->headroom)),
      memory_kind_words (largest_owner (figures)));
}

/* What offloaded shards take there, which nobody checks against what there is. */
static void
append_host_memory (const PlanChoice *best, GString *text)
{
  char buffer[FORMAT_SIZE];
  StepCost cost;

  if (!scenario_offloads_params (&best->scenario))
    return;
  step_cost_new (&best->scenario, &cost);
  g_string_append_printf (text,
                          " Each node's host holds %s GiB of parameters, gradients and "
                          "optimizer states; whether it can is not checked.",
                          format_gib (buffer, plan_host_memory (&best->scenario, &cost)));
}

static void
append_limits (const Plan *plan, const PlanChoice *best, GString *text)
{
  g_autoptr (GString) line = g_string_new ("What limits it: the step is ");

  append_parts (&best->run.figures, line);
  g_string_append_c (line, '.');
  append_memory (plan, best, line);
  append_host_memory (best, line);
  text_append_wrapped (text, line->str, 2);
}

/* ---- the answer ---- */

/* NAN where nobody knows. */
static double
days_at_worst (const PlanChoice *choice)
{
  const Figures *figures = &choice->run.figures;

  return choice->expense.days * figures->step_time_high_s / figures->step_time_s;
}

static void
append_missed (const Plan *plan, const PlanChoice *best, GString *text)
{
  const PlanLimits *limits = plan_limits (plan);
  char days[FORMAT_SIZE], cost[FORMAT_SIZE];
  g_autofree char *line = NULL;

  if (best->meets_limits)
    return;
  line = g_strdup_printf (
      "None meets %s: the first takes %s days%s%s.",
      limits->deadline_s > 0 && limits->budget > 0 ? "deadline and budget"
      : limits->deadline_s > 0                     ? "the deadline"
                                                   : "the budget",
      format_fixed (days, 1, best->expense.days),
      limits->price_per_gpu_hour > 0 ? " and costs " : "",
      limits->price_per_gpu_hour > 0 ? format_fixed (cost, 0, best->expense.cost) : "");
  text_append_wrapped (text, line, 2);
}

/* In time as predicted, but late where the step takes as long as its interval allows: who is in
 * time even then? */
static void
append_risk (const Plan *plan, const PlanChoice *choices, guint n, GString *text)
{
  const double deadline_days = plan_limits (plan)->deadline_s / SECONDS_PER_DAY;
  char days[FORMAT_SIZE];
  g_autoptr (GString) line = g_string_new (NULL);
  guint safe = 0;

  if (deadline_days <= 0 || !choices[0].meets_limits || !(days_at_worst (choices) > deadline_days))
    return;
  while (safe < n && !(days_at_worst (&choices[safe]) <= deadline_days))
    safe++;
  g_string_append_printf (
      line,
      "Not sure to be in time: at the upper end of its interval the first takes "
      "%s days. ",
      format_fixed (days, 1, days_at_worst (choices)));
  if (safe == n)
    g_string_append (line, "None shown is in time then.");
  else
    g_string_append_printf (line, "Number %u (%u nodes) is in time then too: %s days.", safe + 1,
                            choices[safe].job.nodes,
                            format_fixed (days, 1, days_at_worst (&choices[safe])));
  text_append_wrapped (text, line->str, 2);
}

/* The candidate that came nearest. */
static void
append_nothing_fits (const Plan *plan, GString *text)
{
  gint64 least = G_MAXINT64;
  char buffer[FORMAT_SIZE];
  g_autofree char *line = NULL;

  for (gsize cell = 0; cell < grid_n_cells (plan_grid (plan)); cell++)
    if (plan_candidate (plan, cell)->verdict == PLAN_DOES_NOT_FIT)
      least = MIN (least, plan_candidate (plan, cell)->reserved_bytes);
  if (least == G_MAXINT64)
    line
        = g_strdup ("Nothing fits: parameters, optimizer states and saved activations alone are "
                    "over the memory of every candidate. More nodes (--gpus), a shorter seq_len or "
                    "a smaller model would do.");
  else
    line = g_strdup_printf ("Nothing fits: the least that any candidate needs is %s GiB. More "
                            "nodes (--gpus) or a shorter seq_len would do.",
                            format_gib (buffer, least));
  text_append_wrapped (text, line, 2);
}

void
plan_why_append (const Plan *plan, GString *text)
{
  guint n;
  const PlanChoice *choices = plan_choices (plan, &n);

  if (n == 0)
    {
      append_nothing_fits (plan, text);
      return;
    }
  append_comparisons (plan, &choices[0], text);
  append_limits (plan, &choices[0], text);
  append_missed (plan, &choices[0], text);
  append_risk (plan, choices, n, text);
}
