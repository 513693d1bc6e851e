#include <config.h>

#include <string.h>

#include "report/format.h"
#include "report/table_head.h"

#define HASH_DIGITS 12 /* of a SHA-256 are plenty to tell scenarios apart by eye */

static char *
describe_scenario (const ReportEntry *entry)
{
  const char *title = entry->scenario->title;

  return g_strdup_printf ("%s%s(%s, %.*s)", title, title[0] != '\0' ? " " : "",
                          entry->scenario->scenario_name, HASH_DIGITS, entry->scenario->sha256);
}

static char *
describe_cluster (const ReportEntry *entry)
{
  const Scenario *scenario = entry->run.scenario;
  char peak[FORMAT_SIZE];

  return g_strdup_printf ("%s, %u node%s x %u %s; MFU of %s TFLOP/s, the dense %s peak",
                          scenario->cluster.name, scenario->cluster.nodes,
                          scenario->cluster.nodes == 1 ? "" : "s", scenario->cluster.gpus_per_node,
                          scenario->gpu.name,
                          format_real (peak, "%.4g", entry->run.facts.peak_flops / 1e12),
                          Dtype_words[scenario->fsdp.param_dtype]);
}

/* "; 1750.2 of 6738.4 million parameters trained" where some are frozen. */
static char *
describe_trained (const ReportEntry *entry)
{
  const RunFacts *facts = &entry->run.facts;
  char trained[FORMAT_SIZE], all[FORMAT_SIZE];

  if (scenario_trains_all (entry->run.scenario))
    return g_strdup ("");
  return g_strdup_printf ("; %s of %s million parameters trained",
                          format_fixed (trained, 1, (double)facts->trained_params / 1e6),
                          format_fixed (all, 1, (double)facts->params / 1e6));
}

static char *
describe_model (const ReportEntry *entry)
{
  const Scenario *scenario = entry->run.scenario;
  const TrainingConfig *training = &scenario->training;
  g_autofree char *last = training->last_micro_batch > 0
                              ? g_strdup_printf (", the last of %u", training->last_micro_batch)
                              : g_strdup ("");
  g_autofree char *trained = describe_trained (entry);

  if (model_has_encoder (&scenario->model))
    return g_strdup_printf (
        "%s, %u + %u blocks; micro-batch %u x %u + %u tokens (encoder + decoder), grad_accum %u%s",
        scenario->model.name, scenario->model.encoder_layers,
        scenario->model.layers - scenario->model.encoder_layers, training->micro_batch,
        training->encoder_seq_len, training->seq_len, training->grad_accum, last);
  return g_strdup_printf ("%s, %u blocks; micro-batch %u x %u tokens, grad_accum %u%s%s",
                          scenario->model.name, scenario->model.layers, training->micro_batch,
                          training->seq_len, training->grad_accum, last, trained);
}

static char *
describe_runtime (const ReportEntry *entry)
{
  const Scenario *scenario = entry->run.scenario;
  const FsdpConfig *fsdp = &scenario->fsdp;

  if (fsdp->api == API_DDP)
    return g_strdup_printf ("ddp, torch 2.%u; seed %" G_GUINT64_FORMAT, fsdp->torch_minor,
                            scenario->simulation.seed);
  return g_strdup_printf ("%s, torch 2.%u, %s; seed %" G_GUINT64_FORMAT, FsdpApi_words[fsdp->api],
                          fsdp->torch_minor, ShardingStrategy_words[fsdp->strategy],
                          scenario->simulation.seed);
}

/* Whose optimizer is the CPU's: how many cores it has, and from how many on its share of the host
 * memory's bandwidth limits it instead. NULL where it is the GPU's, or its time is given. */
static char *
describe_offload (const ReportEntry *entry)
{
  const Scenario *scenario = entry->run.scenario;
  const ClusterConfig *cluster = &scenario->cluster;
  const double cores = (double)cluster->cpu_cores / cluster->gpus_per_node;
  const double enough
      = cluster->host_memory_bytes_per_s / cluster->gpus_per_node / cluster->cpu_core_bytes_per_s;
  char used[FORMAT_SIZE], all[FORMAT_SIZE], filled[FORMAT_SIZE];

  if (!scenario->fsdp.cpu_offload || scenario->timing.optimizer_step != TIMING_NOT_GIVEN)
    return NULL;
  return g_strdup_printf (
      "the CPU's optimizer has %s of a rank's %s cores (simulation.omp_num_threads); %s use up its "
      "memory bandwidth",
      format_real (used, "%.3g", MIN ((double)scenario->simulation.omp_num_threads, cores)),
      format_real (all, "%.3g", cores), format_real (filled, "%.2g", enough));
}

/* Times given replace the models that would follow the cluster; NULL where none is. */
static char *
describe_timing (const ReportEntry *entry)
{
  const TimingConfig *timing = &entry->run.scenario->timing;
  const struct
  {
    const char *key;
    gint64 time;
  } times[] = {
#define TIMING(key, what) { #key, timing->key },
#include "config/timing.def"
#undef TIMING
  };
  guint n = 0;
  gboolean has_collectives = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    if (times[i].time != TIMING_NOT_GIVEN)
      {
        n++;
        has_collectives |= g_str_has_suffix (times[i].key, "all_gather")
                           || g_str_has_suffix (times[i].key, "reduce_scatter")
                           || g_str_has_suffix (times[i].key, "all_reduce");
      }
  if (n == 0)
    return NULL;
  return g_strdup_printf ("%u given, %s; they hold for any model, batch and cluster", n,
                          has_collectives ? "collectives' too" : "none of a collective");
}

/* The entries from @index on that have the description of @index. */
static char *
names_with (char **descriptions, const char *const *names, guint n_entries, guint index)
{
  g_autoptr (GPtrArray) same = g_ptr_array_new ();
  g_autofree char *list = NULL;

  for (guint i = index; i < n_entries; i++)
    if (g_strcmp0 (descriptions[i], descriptions[index]) == 0)
      g_ptr_array_add (same, (gpointer)names[i]);
  if (same->len == n_entries)
    return g_strdup ("");
  g_ptr_array_add (same, NULL);
  list = g_strjoinv (", ", (char **)same->pdata);
  return g_strconcat (list, ": ", NULL);
}

static gboolean
is_first_of_its_kind (char **descriptions, guint index)
{
  for (guint i = 0; i < index; i++)
    if (g_strcmp0 (descriptions[i], descriptions[index]) == 0)
      return FALSE;
  return TRUE;
}

/* A line for each description; an entry may have none. */
static void
append_lines (const Report *report, const char *const *names, const char *what,
              char *(*describe) (const ReportEntry *), GString *text)
{
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (g_free);
  char **descriptions;

  for (guint i = 0; i < report->n_entries; i++)
    g_ptr_array_add (kept, describe (&report->entries[i]));
  descriptions = (char **)kept->pdata;
  for (guint i = 0; i < report->n_entries; i++)
    if (descriptions[i] != NULL && is_first_of_its_kind (descriptions, i))
      {
        g_autofree char *whose = names_with (descriptions, names, report->n_entries, i);

        g_string_append_printf (text, "# %-9s %s%s\n", what, whose, descriptions[i]);
      }
}

void
table_head_append (const Report *report, const char *const *names, GString *text)
{
  g_string_append (text, "# " PACKAGE_STRING "\n");
  append_lines (report, names, "scenario", describe_scenario, text);
  append_lines (report, names, "cluster", describe_cluster, text);
  append_lines (report, names, "model", describe_model, text);
  append_lines (report, names, "runtime", describe_runtime, text);
  append_lines (report, names, "offload", describe_offload, text);
  append_lines (report, names, "times", describe_timing, text);
}
