/* What gnuplot needs for the pictures of a folder: data files, and a small script a
 * picture that sets what the shipped plots/NAME.gp draws from, and loads it. */
#pragma once

#include "report/results.h"

/* The pictures of one folder in the making. */
typedef struct
{
  const Results *results;
  const char *folder; /* where scripts and data go */
  GPtrArray *names;   /* char *, of the pictures so far: NAME is drawn by draw-NAME.gp */
} Pictures;

/* Writes all data files and scripts into @folder, beside copies of the shipped
 * scripts; each file whole. NULL and a G_FILE_ERROR where that fails, else the names
 * of the pictures, in order. */
GPtrArray *plot_scripts_write (const Results *results, const char *folder, GError **error);

/* ---- for those who add pictures ---- */

/* One file, whole, by rename. */
gboolean pictures_write (const Pictures *pictures, const char *name, const char *text,
                         GError **error);

/* A script that sets format, output and the texts around the picture. */
GString *picture_begin (const char *name, const char *title, const char *subtitle,
                        const char *stamp);
/* Ends it with loading plots/SHIPPED.gp, and puts it and its picture on the list.
 * Frees @script. */
gboolean picture_end (Pictures *pictures, const char *name, GString *script, const char *shipped,
                      GError **error);

/* Version, scenario and its hash; each @n rows from @first are told where they
 * differ. The caller frees it. */
char *picture_stamp (const Results *results, guint first, guint n);

/* The scenario's title, or its name. Borrowed. */
const char *picture_title (const Results *results);
