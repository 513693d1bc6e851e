/* One page of a folder of results, to be read without anything else. */
#pragma once

#include <glib.h>

/* Writes FOLDER/report.html, whole: tables, and the pictures of plots_draw() within
 * it. *path receives its path and *lacks, where not NULL, why the pictures are
 * missing: there is no gnuplot; both are g_free()d. RESULTS_ERROR, PLOT_ERROR or
 * G_FILE_ERROR. */
gboolean html_write (const char *folder, char **path, char **lacks, GError **error);
