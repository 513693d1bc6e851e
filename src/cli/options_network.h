/* The options of `net` alone, as functions of the option table (GOptionArgFunc,
 * whose data is the Options). */
#pragma once

#include "cli/options.h"

gboolean options_take_collectives (const char *option, const char *value, gpointer data,
                                   GError **error);
gboolean options_take_group_sizes (const char *option, const char *value, gpointer data,
                                   GError **error);
gboolean options_take_sizes (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_in_place (const char *option, const char *value, gpointer data,
                                GError **error);
gboolean options_take_calibrate (const char *option, const char *value, gpointer data,
                                 GError **error);
gboolean options_take_against (const char *option, const char *value, gpointer data,
                               GError **error);
