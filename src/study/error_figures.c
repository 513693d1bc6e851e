#include <config.h>

#include "study/error_figures.h"

#include <math.h>
#include <string.h>

const char *
error_figure_name (ErrorFigure figure)
{
  static const char *const names[] = { "signed_mean", "mean", "median", "p90", "worst", "rank" };

  g_assert (figure < N_ERROR_FIGURES);
  return names[figure];
}

static gint
compare_reals (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a;
  const double y = *(const double *)b;

  return (x > y) - (x < y);
}

/* ---- rank correlation ---- */

typedef struct
{
  double value;
  guint index;
} Ranked;

static gint
compare_ranked (gconstpointer a, gconstpointer b)
{
  return compare_reals (&((const Ranked *)a)->value, &((const Ranked *)b)->value);
}

/* From 1; equal values share the mean of their ranks. */
static double *
ranks_of (const double *values, guint n)
{
  g_autofree Ranked *order = g_new (Ranked, n);
  double *ranks = g_new (double, n);

  for (guint i = 0; i < n; i++)
    order[i] = (Ranked){ values[i], i };
  qsort (order, n, sizeof *order, compare_ranked);
  for (guint i = 0, end; i < n; i = end)
    {
      for (end = i + 1; end < n && order[end].value <= order[i].value; end++)
        ;
      for (guint k = i; k < end; k++)
        ranks[order[k].index] = (i + 1 + end) / 2.0;
    }
  return ranks;
}

/* Pearson's, of the ranks, whose mean is (n + 1) / 2. */
static double
rank_correlation (const double *a, const double *b, guint n)
{
  g_autofree double *x = ranks_of (a, n);
  g_autofree double *y = ranks_of (b, n);
  const double mean = (n + 1) / 2.0;
  double xy = 0, xx = 0, yy = 0;

  for (guint i = 0; i < n; i++)
    {
      xy += (x[i] - mean) * (y[i] - mean);
      xx += (x[i] - mean) * (x[i] - mean);
      yy += (y[i] - mean) * (y[i] - mean);
    }
  return xx > 0 && yy > 0 ? xy / sqrt (xx * yy) : (double)NAN;
}

/* ---- one group ---- */

static void
summarize (double *errors, guint n, double *values)
{
  double sum = 0, sum_of_signed = 0;

  for (guint i = 0; i < n; i++)
    {
      sum_of_signed += errors[i];
      errors[i] = fabs (errors[i]);
      sum += errors[i];
    }
  qsort (errors, n, sizeof *errors, compare_reals);
  values[ERROR_SIGNED_MEAN] = sum_of_signed / n;
  values[ERROR_MEAN] = sum / n;
  values[ERROR_MEDIAN] = n % 2 == 1 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
  values[ERROR_P90] = errors[n * 9 / 10];
  values[ERROR_WORST] = errors[n - 1];
}

void
error_figures_measure (const Validation *validation, const guint *indices, guint n, Metric metric,
                       ErrorFigures *figures)
{
  g_autofree double *errors = g_new (double, n + 1);
  g_autofree double *measured = g_new (double, n + 1);
  g_autofree double *predicted = g_new (double, n + 1);

  figures->n = 0;
  for (guint i = 0; i < N_ERROR_FIGURES; i++)
    figures->values[i] = NAN;
  for (guint i = 0; i < n; i++)
    {
      const Prediction *prediction = &validation->predictions[indices != NULL ? indices[i] : i];
      const double error = prediction_error (prediction, metric);

      if (isnan (error))
        continue;
      errors[figures->n] = error;
      measured[figures->n] = prediction->measured[metric];
      predicted[figures->n] = prediction->predicted[metric];
      figures->n++;
    }
  if (figures->n == 0)
    return;
  summarize (errors, figures->n, figures->values);
  figures->values[ERROR_RANK] = rank_correlation (predicted, measured, figures->n);
}

/* ---- all groups ---- */

char *
error_source_of (const PublishedRun *run)
{
  const char *source = run->result.source;
  char *text = g_strndup (source, strcspn (source, " "));
  char *colon = strchr (text, ':');

  if (colon != NULL && strchr (text, '@') != NULL && strchr (text, '@') < colon)
    *colon = '\0';
  return text;
}

static char *
quality_of (const PublishedRun *run)
{
  return g_strdup (run->result.quality);
}

static char *
gpu_of (const PublishedRun *run)
{
  return g_strdup (run->settings.gpu);
}

static gint
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static void
add_group (GArray *groups, const char *kind, const char *name, const Validation *validation,
           const GArray *indices)
{
  ErrorGroup group = { .kind = kind, .name = g_strdup (name) };

  for (Metric metric = 0; metric < N_METRICS; metric++)
    error_figures_measure (validation, (const guint *)(const void *)indices->data, indices->len,
                           metric, &group.metrics[metric]);
  g_array_append_val (groups, group);
}

static void
add_groups (GArray *groups, const char *kind, const Validation *validation,
            char *(*name_of) (const PublishedRun *run))
{
  g_autoptr (GHashTable) members
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
  g_autofree const char **names = NULL;
  guint n;

  for (guint i = 0; i < validation->n; i++)
    {
      char *name = name_of (validation->predictions[i].run);
      GArray *indices = g_hash_table_lookup (members, name);

      if (indices == NULL)
        {
          indices = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (members, g_strdup (name), indices);
        }
      g_array_append_val (indices, i);
      g_free (name);
    }
  names = (const char **)g_hash_table_get_keys_as_array (members, &n);
  qsort (names, n, sizeof *names, compare_texts);
  for (guint i = 0; i < n; i++)
    if (names[i][0] != '\0')
      add_group (groups, kind, names[i], validation, g_hash_table_lookup (members, names[i]));
}

static void
group_clear (gpointer data)
{
  g_free (((ErrorGroup *)data)->name);
}

GArray *
error_groups_new (const Validation *validation)
{
  GArray *groups = g_array_new (FALSE, FALSE, sizeof (ErrorGroup));
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (guint));

  g_array_set_clear_func (groups, group_clear);
  for (guint i = 0; i < validation->n; i++)
    g_array_append_val (all, i);
  add_group (groups, "all", "all", validation, all);
  add_groups (groups, "quality", validation, quality_of);
  add_groups (groups, "gpu", validation, gpu_of);
  add_groups (groups, "source", validation, error_source_of);
  return groups;
}
