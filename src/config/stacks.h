/* The blocks of an encoder-decoder (model.encoder_layers) as kinds. */
#pragma once

#include "config/scenario.h"

/* Fills in kinds, n_kinds and kind_of_block: encoder and decoder, and where positions are relative
 * the first block of each, which has the table of its stack. What was there is not freed. */
void stacks_build (ModelConfig *model);
