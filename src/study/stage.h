/* A scenario's host program with all that the engine needs beside it. Running it changes nothing of
 * it: several threads may, each under a seed of its own. */
#pragma once

#include "cost/step_cost.h"
#include "sim/engine.h"
#include "study/study.h"

typedef struct
{
  Program *program;
  Network *network;
  NumberedFigure *slow, *late, *degraded;
  EngineOptions options; /* borrows these */
} Stage;

/* FALSE and the reason where PyTorch refuses the settings; *stage is left alone. */
gboolean stage_init (Stage *stage, const Scenario *scenario, const StepCost *cost,
                     const StudyOptions *options, GError **error);
void stage_clear (Stage *stage);
