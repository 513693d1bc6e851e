/* Op-level selective checkpointing, as torchtitan's policy has it: the results of
 * attention and of every second aten.mm of a block are kept, the rest is computed
 * again (torchtitan/models/llama/parallelize_llama.py, _get_custom_policy). Its list names
 * SDPA's operators of flash and memory-efficient attention, not that of cuDNN. */
#pragma once

#include "cost/kernels.h"

/* Takes out of the kernels of a forward those whose results are kept. */
void selective_drop_kept (GArray *kernels);

/* How many elements the kept results of a block's forward have. A result that no
 * backward reads is kept all the same, but not by a graph that was compiled. */
double selective_elements (const GArray *kernels, gboolean compile);
