/* The largest batch or sequence, or the fewest nodes, that fits a scenario as it is. */
#pragma once

#include "report/report.h"
#include "study/plan_space.h"

typedef enum
{
  FIND_NOTHING, /* a whole plan is wanted */
  FIND_MICRO_BATCH,
  FIND_SEQ_LEN, /* in steps of 128 tokens */
  FIND_NODES
} FindWhat;

/* One value, tried. */
typedef struct
{
  guint value;
  gboolean is_possible; /* FALSE: @reason says what is wrong with it */
  gboolean fits;        /* with the head-room */
  gint64 allocated_bytes, reserved_bytes, capacity_bytes;
  MemoryKind owner; /* of most of the peak */
  PeakPhase phase;
  guint32 unit; /* at which the peak is reached */
  char *reason; /* "" where it is possible */
} FindProbe;

typedef struct
{
  FindWhat what;
  double headroom;
  gboolean found;
  FindProbe best; /* where found; else what came nearest */
  FindProbe next; /* the value beyond, which does not fit; value 0: there is none */
} FindResult;

/* @limits: max_gpus bounds the nodes; headroom. */
void plan_find (ScenarioFile *file, guint variant, FindWhat what, const PlanLimits *limits,
                FindResult *result);
void find_result_clear (FindResult *result);

char *find_report_table (const FindResult *result, const ReportScenario *scenario,
                         const char *variant);
char *find_report_csv (const FindResult *result);
char *find_report_json (const FindResult *result, const ReportScenario *scenario);
