/* Pictures of a folder of results, drawn by gnuplot from the CSV files in it. */
#pragma once

#include <glib.h>

typedef enum
{
  PLOT_ERROR_NO_GNUPLOT, /* scripts and data are in place, but nothing drew them */
  PLOT_ERROR_FAILED      /* gnuplot ran and failed */
} PlotError;

#define PLOT_ERROR (plot_error_quark ())
GQuark plot_error_quark (void);

/* Fills FOLDER/plots with a picture of each variant's timeline and of the
 * deltas; @terminal: "svg", "png" or "pdf". *written, where not NULL, receives the paths,
 * NULL-terminated; g_strfreev() it. */
gboolean plots_draw (const char *folder, const char *terminal, char ***written, GError **error);
