/* The options of `check` as functions of the option table (GOptionArgFunc, whose data is
 * the Options). */
#pragma once

#include "cli/options.h"

/* What its options are where none is given: releases of the same months. */
void options_check_init (CheckOptions *check);
void options_check_clear (CheckOptions *check);

/* --trainer, --model, --cluster */
gboolean options_take_source (const char *option, const char *value, gpointer data, GError **error);
gboolean options_take_nodes (const char *option, const char *value, gpointer data, GError **error);
/* --torch, --transformers, --accelerate */
gboolean options_take_version (const char *option, const char *value, gpointer data,
                               GError **error);
