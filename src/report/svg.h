/* SVG as gnuplot writes it. */
#pragma once

#include <glib.h>

/* The same picture with @title for those who hear it, fonts to fall back on, and
 * without empty groups and unused symbols. The caller frees it. */
char *svg_finish (const char *text, const char *title);

/* What of a finished picture may stand within an HTML page beside others: no
 * prologue, and ids led by @prefix. The caller frees it. */
char *svg_inline (const char *text, const char *prefix);
