/* One training step as a walk through the model: forward and backward of each
 * micro-batch, clipping, the optimizer. */
#pragma once

#include "fsdp/checkpointing.h"

/* Writes the whole program: load, then all steps. */
void step_write_program (Runtime *runtime);
