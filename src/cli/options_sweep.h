/* The options of `sweep` and `plan`, and what a whole training run costs, as functions of the
 * option table (GOptionArgFunc, whose data is the Options). */
#pragma once

#include "cli/options.h"

gboolean options_take_vary (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_points (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_shard (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_merge (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_break_even (const char *option, const char *value, gpointer data,
                                  GError **error);
gboolean options_take_repeat (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_tokens (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_gpus (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_deadline (const char *option, const char *value, gpointer data,
                                GError **error);
gboolean options_take_budget (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_global_batch (const char *option, const char *value, gpointer data,
                                    GError **error);
gboolean options_take_headroom (const char *option, const char *value, gpointer data,
                                GError **error);
gboolean options_take_find (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_price (const char *option, const char *value, gpointer data, GError **error);
