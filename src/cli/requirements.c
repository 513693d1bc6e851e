#include <config.h>

#include "cli/requirements.h"

#include <math.h>
#include <string.h>

#include "cli/exit_codes.h"
#include "config/suggest.h"
#include "config/units.h"

#define OF_MEMORY "memory."

typedef struct
{
  Metric metric;
  ErrorFigure figure;
  double bound; /* at most; of the rank, at least */
} Requirement;

static gboolean
find_figure (const char *name, Requirement *requirement, GError **error)
{
  const char *figure = name;
  const char *names[N_ERROR_FIGURES + 1] = { 0 };
  g_autofree char *clause = NULL;

  if (g_str_has_prefix (name, OF_MEMORY))
    {
      requirement->metric = METRIC_PEAK_MEMORY_GIB;
      figure += strlen (OF_MEMORY);
    }
  for (guint i = 0; i < N_ERROR_FIGURES; i++)
    {
      names[i] = error_figure_name (i);
      if (strcmp (names[i], figure) == 0)
        {
          requirement->figure = i;
          return TRUE;
        }
    }
  clause = suggest_clause (figure, names);
  g_set_error (error, CLI_ERROR, EXIT_USAGE, "--require: no '%s'%s", name, clause);
  return FALSE;
}

static gboolean
parse_one (const char *text, Requirement *requirement, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);
  UnitKind unit;

  if (parts[0] == NULL || parts[1] == NULL)
    {
      g_set_error (error, CLI_ERROR, EXIT_USAGE,
                   "--require: '%s' is no bound; expected such as mean=2.7%% or rank=0.99", text);
      return FALSE;
    }
  if (!find_figure (g_strstrip (parts[0]), requirement, error))
    return FALSE;
  unit = requirement->figure == ERROR_RANK ? UNIT_KIND_NUMBER : UNIT_KIND_PERCENT;
  if (units_parse_real (unit, g_strstrip (parts[1]), &requirement->bound, NULL))
    return TRUE;
  g_set_error (error, CLI_ERROR, EXIT_USAGE, "--require: '%s' is no %s", parts[1],
               unit == UNIT_KIND_NUMBER ? "number" : "percentage, such as 2.7%");
  return FALSE;
}

GArray *
requirements_parse (const char *text, GError **error)
{
  g_autoptr (GArray) requirements = g_array_new (FALSE, TRUE, sizeof (Requirement));
  g_auto (GStrv) parts = g_strsplit (text != NULL ? text : "", ",", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      Requirement requirement = { 0 };

      if (!parse_one (parts[i], &requirement, error))
        return NULL;
      g_array_append_val (requirements, requirement);
    }
  return g_steal_pointer (&requirements);
}

/* A figure that there is not, for want of runs, is missed. */
static gboolean
holds (const Requirement *requirement, double value)
{
  if (requirement->figure == ERROR_RANK)
    return value >= requirement->bound;
  return fabs (value) <= requirement->bound;
}

static void
append_missed (GString *text, const Requirement *requirement, double value)
{
  const char *name = error_figure_name (requirement->figure);
  const char *of = requirement->metric == METRIC_PEAK_MEMORY_GIB ? OF_MEMORY : "";

  if (requirement->figure == ERROR_RANK)
    g_string_append_printf (text, "%s%s is %.4f, required %.4g or more\n", of, name, value,
                            requirement->bound);
  else
    g_string_append_printf (text, "%s%s is %.2f %%, required %.4g %% or less\n", of, name,
                            100 * value, 100 * requirement->bound);
}

char *
requirements_missed (const GArray *requirements, const Validation *validation)
{
  g_autoptr (GString) text = g_string_new (NULL);
  ErrorFigures figures[N_METRICS];

  for (Metric metric = 0; metric < N_METRICS; metric++)
    error_figures_measure (validation, NULL, validation->n, metric, &figures[metric]);
  for (guint i = 0; i < requirements->len; i++)
    {
      const Requirement *requirement = &g_array_index (requirements, Requirement, i);
      const double value = figures[requirement->metric].values[requirement->figure];

      if (!holds (requirement, value))
        append_missed (text, requirement, value);
    }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}
