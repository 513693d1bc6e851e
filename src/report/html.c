#include <config.h>

#include <math.h>
#include <string.h>

#include "report/files.h"
#include "report/format.h"
#include "report/html.h"
#include "report/html_tables.h"
#include "report/html_text.h"
#include "report/names.h"
#include "report/plots.h"
#include "report/svg.h"
#include "report/sweep_grid.h"

#define PAGE_NAME     "report.html"
#define MOST_VARIANTS 12 /* whose own pictures stand in the page */

static const char style[]
    = "body { margin: 0 auto; max-width: 82rem; padding: 1rem; background: #fff; color: #222;\n"
      "  font: 1rem/1.5 'DejaVu Sans', Verdana, sans-serif; overflow-wrap: anywhere; }\n"
      "h1 { font-size: 1.5rem; line-height: 1.25; margin: 0.5rem 0; }\n"
      "h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; }\n"
      "h3 { font-size: 1rem; margin: 2rem 0 0.5rem; }\n"
      ".quiet, figcaption, caption, footer { color: #555; font-size: 0.85rem; }\n"
      ".wide { overflow-x: auto; max-width: 100%; margin: 1rem 0; }\n"
      "table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; "
      "}\n"
      "caption { text-align: left; padding: 0.25rem 0; }\n"
      "th, td { padding: 0.25rem 0.6rem; text-align: right; white-space: nowrap;\n"
      "  border-bottom: 1px solid #ddd; }\n"
      "thead th { vertical-align: bottom; white-space: normal; overflow-wrap: normal; "
      "border-color: #666; }\n"
      "tbody th, thead th:first-child { text-align: left; position: sticky; left: 0;\n"
      "  background: #fff; font-weight: 600; min-width: 7rem; max-width: 16rem; white-space: "
      "normal;\n"
      "  overflow-wrap: break-word; }\n"
      "td.text { text-align: left; }\n"
      "td.text:last-child { white-space: normal; min-width: 20rem; }\n"
      "figure svg { display: block; width: 100%; min-width: 44rem; height: auto; }\n"
      "summary { cursor: pointer; padding: 0.4rem 0; }\n"
      "footer { margin: 2.5rem 0 1rem; border-top: 1px solid #ddd; padding-top: 0.5rem; }\n"
      "@media print { .wide { overflow: visible; } figure svg { min-width: 0; } }\n";

/* ---- head ---- */

static const char *
title_of (const Results *results)
{
  return results->title != NULL && results->title[0] != '\0'
             ? results->title
             : results_variant (results, 0)->scenario;
}

static void
begin_page (GString *page, const Results *results)
{
  g_string_append (page,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  html_append_format (page, "title", "fsdpsim: %s", title_of (results));
  g_string_append_printf (page, "<style>\n%s</style>\n</head>\n<body>\n", style);
  html_append (page, "h1", title_of (results));
}

/* The row of the highest throughput of those that fit; NULL where none does. */
static const ResultsVariant *
best_of (const Results *results)
{
  const ResultsVariant *best = NULL;

  for (guint i = 0; i < results->variants->len; i++)
    {
      const ResultsVariant *variant = results_variant (results, i);

      if (results_fits (variant)
          && (best == NULL || variant->tokens_per_s_per_gpu > best->tokens_per_s_per_gpu))
        best = variant;
    }
  return best;
}

/* Of a sweep the values of the keys that vary, too. */
static char *
where_of (const Results *results, const ResultsVariant *variant)
{
  g_autoptr (SweepGrid) grid = NULL;
  g_autofree char *words = NULL;

  if (!results_is_sweep (results))
    return g_strdup_printf ("“%s”", variant->name);
  grid = sweep_grid_new (results);
  words = sweep_grid_words (grid, variant);
  return g_strdup_printf ("“%s”", words);
}

/* The answer in one sentence. */
static void
append_verdict (GString *page, const Results *results)
{
  const ResultsVariant *best
      = results_is_plan (results) ? results_variant (results, 0) : best_of (results);
  g_autofree char *where = best != NULL ? where_of (results, best) : NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  char number[FORMAT_SIZE];

  if (best == NULL)
    {
      html_append (page, "p", "Nothing of this fits in memory.");
      return;
    }
  g_string_append_printf (text, "%s %s: a step of ",
                          results_is_plan (results)    ? "The best of the plan is"
                          : results->variants->len > 1 ? "Fastest is"
                                                       : "Result of",
                          where);
  g_string_append_printf (text, "%s ms, ", format_fixed (number, 1, 1e3 * best->step_time_s));
  g_string_append_printf (text, "%s tokens/s per GPU, ",
                          format_fixed (number, 0, best->tokens_per_s_per_gpu));
  g_string_append_printf (text, "MFU %s %%; ", format_fixed (number, 1, best->mfu_percent));
  g_string_append_printf (text, "%s %% of the step is exposed communication.",
                          format_fixed (number, 1, 100 * best->exposed_comm_s / best->step_time_s));
  if (isfinite (best->throughput_delta_percent) && best->row > 0)
    g_string_append_printf (text, " Against “%s” that is %s%s %% of throughput.",
                            results_variant (results, 0)->name,
                            best->throughput_delta_percent < 0 ? "−" : "+",
                            format_fixed (number, 1, fabs (best->throughput_delta_percent)));
  html_append (page, "p", text->str);
}

/* ---- pictures ---- */

typedef struct
{
  char **paths;   /* as plots_draw() gave them; empty without gnuplot */
  guint n_inline; /* so far */
} PagePictures;

/* NULL where there is no such picture. */
static const char *
find_picture (const PagePictures *pictures, const char *name)
{
  for (guint i = 0; pictures->paths[i] != NULL; i++)
    {
      g_autofree char *base = g_path_get_basename (pictures->paths[i]);

      if (strncmp (base, name, strlen (name)) == 0 && strcmp (base + strlen (name), ".svg") == 0)
        return pictures->paths[i];
    }
  return NULL;
}

static gboolean
append_picture (GString *page, PagePictures *pictures, const char *path, GError **error)
{
  g_autofree char *prefix = g_strdup_printf ("p%u-", ++pictures->n_inline);
  g_autofree char *text = NULL, *svg = NULL;

  if (!g_file_get_contents (path, &text, NULL, error))
    return FALSE;
  svg = svg_inline (text, prefix);
  g_string_append_printf (page, "<figure class=\"wide\">\n%s</figure>\n", svg);
  return TRUE;
}

static gboolean
is_of_variant (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);

  return g_str_has_prefix (base, "timeline-") || g_str_has_prefix (base, "memory-");
}

/* Those of all variants together. */
static gboolean
append_shared_pictures (GString *page, PagePictures *pictures, GError **error)
{
  for (guint i = 0; pictures->paths[i] != NULL; i++)
    if (!is_of_variant (pictures->paths[i])
        && !append_picture (page, pictures, pictures->paths[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
append_variant (GString *page, PagePictures *pictures, const ResultsVariant *variant,
                const char *file, GError **error)
{
  static const char *const kinds[] = { "timeline", "memory" };

  html_append (page, "h2", variant->name);
  if (variant->reason[0] != '\0')
    html_append_format (page, "p", "Result: %s, %s.", html_status_words (variant), variant->reason);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s-%s", kinds[i], file);
      const char *path = find_picture (pictures, name);

      if (path != NULL && !append_picture (page, pictures, path, error))
        return FALSE;
    }
  html_append_units (page, variant);
  html_append_waits (page, variant);
  return TRUE;
}

static gboolean
append_variants (GString *page, PagePictures *pictures, const Results *results, GError **error)
{
  const guint n = MIN (results->variants->len, MOST_VARIANTS);
  g_autofree const char **names = g_new0 (const char *, results->variants->len + 1);
  g_auto (GStrv) files = NULL;

  if (results_is_sweep (results))
    return TRUE;
  for (guint i = 0; i < results->variants->len; i++)
    names[i] = results_variant (results, i)->name;
  files = file_names (names);
  for (guint i = 0; i < n; i++)
    if (!append_variant (page, pictures, results_variant (results, i), files[i], error))
      return FALSE;
  if (n < results->variants->len)
    html_append_format (page, "p", "The other %u variants have pictures in the folder plots.",
                        results->variants->len - n);
  return TRUE;
}

/* ---- the page ---- */

static void
append_notes (GString *page)
{
  html_append (page, "h2", "How to read this");
  html_append (page, "p",
               "Simulated, not measured. Exposed: the compute stream idles while a collective "
               "runs. Host-bound: it idles while none does, since the host has not issued "
               "work yet. MFU counts the model's FLOPs over the dense peak of the GPU, HFU "
               "recomputed ones too. Reserved is what PyTorch's caching allocator holds at "
               "its peak, and what has to fit. Time 0 is the end of the step before.");
}

static void
end_page (GString *page, const Results *results)
{
  const ResultsVariant *variant = results_variant (results, 0);

  append_notes (page);
  html_append_format (page, "footer", "fsdpsim %s · scenario %s · sha256 %s", variant->version,
                      variant->scenario, variant->scenario_sha256);
  g_string_append (page, "</body>\n</html>\n");
}

static char *
make_page (const Results *results, PagePictures *pictures, const char *lacks, GError **error)
{
  g_autoptr (GString) page = g_string_new (NULL);

  begin_page (page, results);
  append_verdict (page, results);
  if (lacks != NULL)
    html_append_format (page, "p", "Without pictures: %s.", lacks);
  html_append_summary (page, results);
  if (!append_shared_pictures (page, pictures, error))
    return NULL;
  html_append_parts (page, results);
  html_append_ranks (page, results);
  if (!append_variants (page, pictures, results, error))
    return NULL;
  end_page (page, results);
  return g_string_free (g_steal_pointer (&page), FALSE);
}

/* Without gnuplot there are no pictures, and *lacks says so. */
static gboolean
draw_pictures (const char *folder, PagePictures *pictures, char **lacks, GError **error)
{
  g_autoptr (GError) failure = NULL;

  if (plots_draw (folder, "svg", &pictures->paths, &failure))
    return TRUE;
  if (!g_error_matches (failure, PLOT_ERROR, PLOT_ERROR_NO_GNUPLOT))
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
  pictures->paths = g_new0 (char *, 1);
  *lacks = g_strdup ("gnuplot was not found when this page was made");
  return TRUE;
}

gboolean
html_write (const char *folder, char **path, char **lacks, GError **error)
{
  g_autofree char *file = g_build_filename (folder, PAGE_NAME, NULL);
  g_autofree char *page = NULL, *missing = NULL;
  g_autoptr (Results) results = results_read (folder, error);
  PagePictures pictures = { NULL, 0 };

  if (results == NULL || !draw_pictures (folder, &pictures, &missing, error))
    return FALSE;
  page = make_page (results, &pictures, missing, error);
  g_strfreev (pictures.paths);
  if (page == NULL)
    return FALSE;
  if (!files_write (folder, PAGE_NAME, page, error))
    return FALSE;
  *path = g_steal_pointer (&file);
  if (lacks != NULL)
    *lacks = g_steal_pointer (&missing);
  return TRUE;
}
