/* What each setting allows alone may contradict another: the mistakes of one
 * variant as a whole. */
#pragma once

#include "config/resolve.h"

/* @scenario is bound and derived. A check is left out where one of the settings
 * that it looks at is missing or broken, since that is noted already. */
void check_scenario (const Resolved *resolved, const Scenario *scenario, Problems *problems);

/* The setting to blame for what @n of them do together: the one laid on top, or
 * where that stands in a file of ours, what named the file. NULL where one is
 * missing or broken. */
const Setting *check_blame (const Resolved *resolved, const KeyId *ids, guint n);

#define BLAME(resolved, ...)                                                                       \
  check_blame (resolved, (const KeyId[]){ __VA_ARGS__ },                                           \
               G_N_ELEMENTS (((const KeyId[]){ __VA_ARGS__ })))

/* What is checked, and where mistakes go. */
typedef struct
{
  const Resolved *resolved;
  const Scenario *scenario;
  Problems *problems;
} Check;

/* A problem at the setting that is to blame. */
void check_note (Problems *problems, const Setting *setting, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Sizes at which figures would overflow or a run would not end; part of check_scenario(). */
void check_limits (const Resolved *resolved, const Scenario *scenario, Problems *problems);

/* What of the model's keys does not go together, in each kind of its blocks. */
void check_model (const Resolved *resolved, const Scenario *scenario, Problems *problems);

/* What is not modelled of encoder-decoders, and what only they have. */
void check_encoder (const Resolved *resolved, const Scenario *scenario, Problems *problems);
