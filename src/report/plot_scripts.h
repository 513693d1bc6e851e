/* What gnuplot needs for the pictures of a folder: data files, and a small script a
 * picture that sets what the shipped plots/NAME.gp draws from, and loads it. */
#pragma once

#include "report/results.h"

/* Writes all data files and scripts into @folder, beside copies of the shipped
 * scripts; each file whole. NULL and a G_FILE_ERROR where that fails, else the
 * names of the pictures, in order: NAME is drawn by draw-NAME.gp. */
GPtrArray *plot_scripts_write (const Results *results, const char *folder, GError **error);
