#include <config.h>

#include "study/network_fit.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

#include "config/keys.h"
#include "study/quantile.h"

/* Least change of a prediction, at a fifth more of a constant, that makes rows say
 * something of it. */
#define LEAST_EFFECT 1e-3
#define PROBE        1.2

/* How far a constant may go from where it starts, either way. */
#define MOST_FACTOR 30

/* Pull to the start: a constant that moves by a factor of e has to win so much of the
 * mean error. Shares of bandwidth are known better than latencies are. */
#define PULL       1e-3
#define SHARE_PULL 1e-2

/* Errors below this count as squares, above as they are, so that outliers do not rule. */
#define SMALL_ERROR 0.01

#define SMALL_BYTES 1e6 /* of smaller messages an error counts half */
#define EVALUATIONS 12000
#define RESTARTS    2
#define DIGITS      "%.4g"

/* What may move. */
static const KeyId candidates[] = {
  ID_cluster_ring_bandwidth,
  ID_cluster_shard_copy_bandwidth,
  ID_cluster_reduce_copy_bandwidth,
  ID_cluster_all_reduce_copy_bandwidth,
  ID_cluster_ramp,
  ID_cluster_simple_overlap,
  ID_cluster_ll_base,
  ID_cluster_ll_step,
  ID_cluster_ll_efficiency,
  ID_cluster_ll128_base,
  ID_cluster_ll128_step,
  ID_cluster_ll128_efficiency,
  ID_cluster_simple_base,
  ID_cluster_simple_step,
  ID_cluster_simple_reduce_step,
  ID_cluster_nic_efficiency,
  ID_cluster_intra_factor,
  ID_cluster_multi_node_latency,
  ID_cluster_ll_hop,
  ID_cluster_ll128_hop,
  ID_cluster_simple_hop,
  ID_cluster_tree_efficiency,
  ID_cluster_tree_latency,
  ID_cluster_tree_hop_factor,
  ID_cluster_tree_ramp,
  ID_cluster_nvls_bandwidth,
  ID_cluster_nvls_base,
  ID_cluster_nvls_ramp,
  ID_cluster_nvls_tree_efficiency,
  ID_cluster_send_efficiency,
  ID_cluster_all_to_all_efficiency,
  ID_cluster_all_to_all_ramp,
};

/* One measured time. */
typedef struct
{
  CollectiveKind kind;
  guint ranks, nodes;
  gint64 bytes;
  gboolean in_place;
  double us;
} Measured;

typedef struct
{
  NetworkFit *fit;
  GArray *measured; /* Measured */
  double start[G_N_ELEMENTS (candidates)];
} Problem;

/* ---- constants ---- */

static const KeyInfo *
key_info (KeyId key)
{
  guint n;

  return &keys_list (&n)[key];
}

static double
get (const Scenario *scenario, KeyId key)
{
  const KeyInfo *info = key_info (key);

  if (info->type == KEY_WHOLE)
    return (double)G_STRUCT_MEMBER (gint64, scenario, info->offset);
  return G_STRUCT_MEMBER (double, scenario, info->offset);
}

static void
set (Scenario *scenario, KeyId key, double value)
{
  const KeyInfo *info = key_info (key);
  double within = CLAMP (value, info->minimum, info->maximum);

  if (info->type == KEY_WHOLE)
    G_STRUCT_MEMBER (gint64, scenario, info->offset) = llround (within);
  else
    G_STRUCT_MEMBER (double, scenario, info->offset) = within;
}

/* To the digits that the file will have. */
static void
round_constant (Scenario *scenario, KeyId key)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (buffer, sizeof buffer, DIGITS, get (scenario, key));
  set (scenario, key, g_ascii_strtod (buffer, NULL));
}

/* ---- rows ---- */

static double
predict_us (const Network *network, const Measured *measured)
{
  GroupShape shape = network_lone_shape (network, measured->ranks, measured->nodes);

  return network_collective (network, measured->kind, &shape, measured->bytes, measured->in_place)
      .time_us;
}

static void
add_time (GArray *measured, const NcclTestsRow *row, double us, gboolean in_place)
{
  Measured time = { .kind = row->kind,
                    .ranks = row->ranks,
                    .nodes = row->nodes,
                    .bytes = row->bytes,
                    .in_place = in_place,
                    .us = us };

  if (!isnan (us))
    g_array_append_val (measured, time);
}

static gboolean
row_fits (const ClusterConfig *cluster, const NcclTestsRow *row, const char *file, GError **error)
{
  guint per_node = (row->ranks + row->nodes - 1) / row->nodes;

  if (per_node > cluster->gpus_per_node)
    g_set_error (error, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_BAD_LINE,
                 "%s:%u: %u ranks on %u node%s, and %s has %u GPUs a node; another cluster or -s "
                 "cluster.gpus_per_node=%u would do",
                 file, row->line, row->ranks, row->nodes, row->nodes == 1 ? "" : "s", cluster->name,
                 cluster->gpus_per_node, per_node);
  else if (row->nodes > 1 && (cluster->nics_per_node == 0 || cluster->nic_bytes_per_s <= 0))
    g_set_error (error, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_BAD_LINE,
                 "%s:%u: ranks on %u nodes, and %s has no NICs; nics_per_node and nic_bandwidth "
                 "would do",
                 file, row->line, row->nodes, cluster->name);
  else
    return TRUE;
  return FALSE;
}

static gboolean
take_rows (GArray *measured, const ClusterConfig *cluster, const NcclTests *tests, const char *file,
           GError **error)
{
  for (guint i = 0; i < tests->rows->len; i++)
    {
      const NcclTestsRow *row = &g_array_index (tests->rows, NcclTestsRow, i);

      if (!row_fits (cluster, row, file, error))
        return FALSE;
      add_time (measured, row, row->out_of_place_us, FALSE);
      add_time (measured, row, row->in_place_us, TRUE);
    }
  if (measured->len > 0)
    return TRUE;
  g_set_error (error, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_NO_RESULTS, "%s: no times in its tables",
               file);
  return FALSE;
}

/* ---- the objective ---- */

static double
size_of_error (double error)
{
  error = fabs (error);
  return error < SMALL_ERROR ? error * error / (2 * SMALL_ERROR) : error - SMALL_ERROR / 2;
}

static double
mean_error (const Problem *problem)
{
  g_autoptr (Network) network = network_new (&problem->fit->scenario.cluster);
  double sum = 0, weights = 0;

  for (guint i = 0; i < problem->measured->len; i++)
    {
      const Measured *measured = &g_array_index (problem->measured, Measured, i);
      double weight = (double)measured->bytes < SMALL_BYTES ? 0.5 : 1;

      sum += weight * size_of_error (log (predict_us (network, measured) / measured->us));
      weights += weight;
    }
  return sum / weights;
}

static double
pull_of (KeyId key)
{
  return key_info (key)->unit == UNIT_KIND_PERCENT ? SHARE_PULL : PULL;
}

/* @moves: natural logarithms of what each constant is multiplied by. */
static double
objective (unsigned n, const double *moves, double *gradient, void *data)
{
  Problem *problem = data;
  double pull = 0;

  (void)gradient; /* the method takes none */
  for (guint i = 0; i < n; i++)
    {
      KeyId key = g_array_index (problem->fit->keys, KeyId, i);

      set (&problem->fit->scenario, key, problem->start[i] * exp (moves[i]));
      pull += pull_of (key) * moves[i] * moves[i];
    }
  return mean_error (problem) + pull;
}

/* ---- the fit ---- */

/* The most that any prediction changes where the constant is greater. */
static double
effect (const Problem *problem, KeyId key)
{
  g_autoptr (Network) network = network_new (&problem->fit->scenario.cluster);
  Scenario probe = problem->fit->scenario;
  g_autoptr (Network) probed = NULL;
  double most = 0;

  set (&probe, key, get (&probe, key) * PROBE);
  if (get (&probe, key) == get (&problem->fit->scenario, key)) /* at its upper end */
    set (&probe, key, get (&probe, key) / PROBE);
  probed = network_new (&probe.cluster);
  for (guint i = 0; i < problem->measured->len; i++)
    {
      const Measured *measured = &g_array_index (problem->measured, Measured, i);
      double change = predict_us (probed, measured) / predict_us (network, measured) - 1;

      most = MAX (most, fabs (change));
    }
  return most;
}

static void
choose_constants (Problem *problem)
{
  GArray *keys = problem->fit->keys;

  for (guint i = 0; i < G_N_ELEMENTS (candidates); i++)
    {
      double start = get (&problem->fit->scenario, candidates[i]);

      if (start <= 0 || effect (problem, candidates[i]) < LEAST_EFFECT)
        continue;
      problem->start[keys->len] = start;
      g_array_append_val (keys, candidates[i]);
    }
}

/* Subplex (Rowan 1990), which takes functions with kinks, as those of a choice of
 * protocol are; deterministic. */
static void
search (Problem *problem)
{
  guint n = problem->fit->keys->len;
  double moves[G_N_ELEMENTS (candidates)] = { 0 };
  double least;

  for (guint i = 0; i <= RESTARTS && n > 0; i++)
    {
      nlopt_opt method = nlopt_create (NLOPT_LN_SBPLX, n);

      nlopt_set_min_objective (method, objective, problem);
      nlopt_set_lower_bounds1 (method, -log (MOST_FACTOR));
      nlopt_set_upper_bounds1 (method, log (MOST_FACTOR));
      nlopt_set_initial_step1 (method, 0.2);
      nlopt_set_ftol_rel (method, 1e-6);
      nlopt_set_maxeval (method, EVALUATIONS);
      nlopt_optimize (method, moves, &least);
      nlopt_destroy (method);
    }
  objective (n, moves, NULL, problem);
  for (guint i = 0; i < n; i++)
    round_constant (&problem->fit->scenario, g_array_index (problem->fit->keys, KeyId, i));
}

/* ---- residuals ---- */

static gboolean
is_of (const FitResidual *residual, const Measured *measured)
{
  return residual->kind == measured->kind && residual->ranks == measured->ranks
         && residual->nodes == measured->nodes;
}

/* Sizes of the errors of all times that belong to @of (NULL: all). */
static GArray *
error_sizes (const GArray *measured, const ClusterConfig *cluster, FitResidual *of)
{
  GArray *sizes = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (Network) network = network_new (cluster);

  for (guint i = 0; i < measured->len; i++)
    {
      const Measured *time = &g_array_index (measured, Measured, i);
      double error = fabs (predict_us (network, time) / time->us - 1);

      if (of != NULL && !is_of (of, time))
        continue;
      g_array_append_val (sizes, error);
      if (of != NULL && error >= of->worst)
        {
          of->worst = error;
          of->worst_bytes = time->bytes;
        }
    }
  return sizes;
}

static FitResidual *
residual_of (GArray *residuals, const Measured *measured)
{
  FitResidual residual
      = { .kind = measured->kind, .ranks = measured->ranks, .nodes = measured->nodes };

  for (guint i = 0; i < residuals->len; i++)
    if (is_of (&g_array_index (residuals, FitResidual, i), measured))
      return &g_array_index (residuals, FitResidual, i);
  g_array_append_val (residuals, residual);
  return &g_array_index (residuals, FitResidual, residuals->len - 1);
}

static void
measure_residuals (const Problem *problem, const ClusterConfig *before)
{
  NetworkFit *fit = problem->fit;
  g_autoptr (GArray) all_before = error_sizes (problem->measured, before, NULL);
  g_autoptr (GArray) all = error_sizes (problem->measured, &fit->scenario.cluster, NULL);

  for (guint i = 0; i < problem->measured->len; i++)
    residual_of (fit->residuals, &g_array_index (problem->measured, Measured, i))->n_times++;
  for (guint i = 0; i < fit->residuals->len; i++)
    {
      FitResidual *residual = &g_array_index (fit->residuals, FitResidual, i);
      g_autoptr (GArray) old = error_sizes (problem->measured, before, residual);
      g_autoptr (GArray) new = NULL;

      residual->worst = 0;
      new = error_sizes (problem->measured, &fit->scenario.cluster, residual);
      residual->median_before = quantile (old, 0.5);
      residual->median = quantile (new, 0.5);
    }
  fit->n_times = all->len;
  fit->median_before = quantile (all_before, 0.5);
  fit->median = quantile (all, 0.5);
}

/* ---- the whole ---- */

NetworkFit *
network_fit (const Scenario *scenario, const NcclTests *tests, const char *file, GError **error)
{
  g_autoptr (GArray) measured = g_array_new (FALSE, FALSE, sizeof (Measured));
  Problem problem = { .measured = measured };

  if (!take_rows (measured, &scenario->cluster, tests, file, error))
    return NULL;
  problem.fit = g_new (NetworkFit, 1);
  *problem.fit = (NetworkFit){ .scenario = *scenario,
                               .keys = g_array_new (FALSE, FALSE, sizeof (KeyId)),
                               .residuals = g_array_new (FALSE, FALSE, sizeof (FitResidual)) };
  choose_constants (&problem);
  search (&problem);
  measure_residuals (&problem, &scenario->cluster);
  return problem.fit;
}

void
network_fit_free (NetworkFit *fit)
{
  if (fit == NULL)
    return;
  g_array_unref (fit->keys);
  g_array_unref (fit->residuals);
  g_free (fit);
}

/* ---- the file ---- */

static void
append_residuals (GString *text, const NetworkFit *fit)
{
  g_string_append_printf (
      text, "# Errors of the fit, and in brackets those before it: median %.1f %% (%.1f %%)\n",
      100 * fit->median, 100 * fit->median_before);
  for (guint i = 0; i < fit->residuals->len; i++)
    {
      const FitResidual *residual = &g_array_index (fit->residuals, FitResidual, i);

      g_string_append_printf (
          text,
          "# %s, %u ranks on %u node%s: %u times, median %.1f %% (%.1f %%), worst %.1f %% at "
          "%" G_GINT64_FORMAT " B\n",
          CollectiveKind_words[residual->kind], residual->ranks, residual->nodes,
          residual->nodes == 1 ? "" : "s", residual->n_times, 100 * residual->median,
          100 * residual->median_before, 100 * residual->worst, residual->worst_bytes);
    }
}

const char *
network_fit_constant (const NetworkFit *fit, guint index, char **value)
{
  const KeyId key = g_array_index (fit->keys, KeyId, index);
  const KeyInfo *info = key_info (key);

  *value = units_format (info->unit, get (&fit->scenario, key));
  return info->key;
}

/* What was asked for, but for constants that the fit has changed since. */
static void
append_override (GString *text, const NetworkFit *fit, const char *override)
{
  g_auto (GStrv) parts = g_strsplit (override, "=", 2);
  const KeyInfo *info = keys_find_dotted (parts[0]);

  for (guint i = 0; info != NULL && i < fit->keys->len; i++)
    if (g_array_index (fit->keys, KeyId, i) == keys_id (info))
      return;
  if (info != NULL)
    g_string_append_printf (text, "%s = %s\n", info->key, parts[1]);
}

/* As one line of a file: no control characters, no " #", which would begin a comment. */
static char *
plain (const char *text)
{
  char *copy = g_utf8_make_valid (text, -1);

  for (char *at = copy; *at != '\0'; at++)
    if (g_ascii_iscntrl (*at) || *at == '#')
      *at = ' ';
  return copy;
}

char *
network_fit_format (const NetworkFit *fit, const NcclTests *tests, const char *source,
                    const char *const *overrides, const char *file)
{
  GString *text = g_string_new ("[cluster]\n");
  g_autofree char *name = plain (file);
  g_autofree char *gpu = plain (tests->gpu != NULL ? tests->gpu : "GPUs not named");

  g_string_append_printf (text, "source = %s\n", source);
  g_string_append_printf (text, "title = %s, fitted to %s\n", fit->scenario.cluster.name, name);
  g_string_append_printf (text,
                          "provenance = Constants below: fitted by " PACKAGE_STRING
                          " to nccl-tests output %s (%u run%s, %s); all others: %s.\n",
                          name, tests->n_runs, tests->n_runs == 1 ? "" : "s", gpu,
                          fit->scenario.cluster.name);
  append_residuals (text, fit);
  for (guint i = 0; overrides[i] != NULL; i++)
    append_override (text, fit, overrides[i]);
  g_string_append_c (text, '\n');
  for (guint i = 0; i < fit->keys->len; i++)
    {
      g_autofree char *value = NULL;
      const char *key = network_fit_constant (fit, i, &value);

      g_string_append_printf (text, "%s = %s\n", key, value);
    }
  return g_string_free (text, FALSE);
}
