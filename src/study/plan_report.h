/* A plan for people and for programs. */
#pragma once

#include "study/plan.h"

/* The choices ranked, why the best is the best, and what limits it. */
char *plan_report_table (const Plan *plan, const ReportScenario *scenario);
/* A row a choice: the varied keys, the columns of summary.csv, then gpus, global_batch,
 * meets_limits and on_front. */
char *plan_report_csv (const Plan *plan, const ReportScenario *scenario);
char *plan_report_json (const Plan *plan, const ReportScenario *scenario);

/* "a global batch of 1024 sequences, at most 512 GPUs": what the user asked for. */
char *plan_describe_limits (const PlanLimits *limits);

/* "HYBRID_SHARD/8", "all", "PRE+forward": settings in few letters; the caller frees them. */
char *plan_sharding_words (const Scenario *scenario);
char *plan_checkpointing_words (const Scenario *scenario);
char *plan_prefetch_words (const Scenario *scenario);
