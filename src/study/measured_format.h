/* Measured times as settings and comments: for measured_scenario.c alone. */
#pragma once

#include "config/ini_edit.h"
#include "study/measured_step.h"

/* IniSetting of [timing]; free with measured_settings_free(). @with_network: collectives too. */
GArray *measured_settings (const MeasuredStep *step, gboolean with_network);
void measured_settings_free (GArray *settings);

/* Comment lines: what was measured, and each collective's size and rate. */
void measured_append_comments (GString *text, const MeasuredStep *step, guint n_ranks);

SimTime measured_mean (const MeasuredTime *time);
