/* What gnuplot needs for the pictures of a folder: data files, and a small script a
 * picture that sets what the shipped plots/NAME.gp draws from, and loads it. */
#pragma once

#include "report/results.h"

typedef struct
{
  char *name; /* of its files, without suffix: draw-NAME.gp draws NAME.svg */
  char *title;
} Picture;

/* The pictures of one folder in the making. */
typedef struct
{
  const Results *results;
  const char *folder; /* where scripts and data go */
  gboolean is_svg;    /* else fonts decide which characters can be drawn */
  GPtrArray *list;    /* Picture, so far */
} Pictures;

/* Writes all data files and scripts into @folder, beside copies of the shipped
 * scripts; each file whole. NULL and a G_FILE_ERROR where that fails, else the
 * pictures, in order. */
GPtrArray *plot_scripts_write (const Results *results, const char *folder, gboolean is_svg,
                               GError **error);

/* ---- pictures of what are no results of scenarios ---- */

#define PLOT_OF_VALIDATION "validation" /* published runs, predicted against measured */

/* Begins the script of a picture: format, output and the texts around it. */
GString *plot_script_begin (const char *name, const char *title, const char *subtitle,
                            const char *stamp);
/* Writes draw-NAME.gp into @folder, beside copies of the shipped scripts that it loads. Frees
 * @script. */
gboolean plot_script_end (const char *folder, const char *name, GString *script, GError **error);

/* ---- for those who add pictures ---- */

/* Puts a picture on the list and begins its script: format, output and the texts
 * around the picture. */
GString *picture_begin (Pictures *pictures, const char *name, const char *title,
                        const char *subtitle, const char *stamp);
/* Ends the last one's script with loading plots/SHIPPED.gp, and writes it. Frees @script. */
gboolean picture_end (const Pictures *pictures, GString *script, const char *shipped,
                      GError **error);

/* Version, scenario and its hash; each @n rows from @first are told where they
 * differ. The caller frees it. */
char *picture_stamp (const Results *results, guint first, guint n);

/* The scenario's title, or its name. Borrowed. */
const char *picture_title (const Results *results);
