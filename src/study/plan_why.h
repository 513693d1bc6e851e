/* Why the best of a plan is the best, and what keeps it from being better. */
#pragma once

#include "study/plan.h"

/* Some sentences; of a plan in which nothing fits, what would be needed. */
void plan_why_append (const Plan *plan, GString *text);

/* FALSE of the keys that belong together with others: sharding, checkpointing, prefetch, the job.
 */
gboolean plan_why_is_own_aspect (const KeyInfo *key);
