/* A block's forward and backward pass under activation checkpointing: who calls
 * whom when the checkpoint stands outside the FSDP unit, inside it, or nowhere
 * (fsdp-semantics.md 9; torch/utils/checkpoint.py of 2.2 and 2.7). */
#pragma once

#include "fsdp/hooks.h"

typedef struct _Checkpointing Checkpointing;

Checkpointing *checkpointing_new (Runtime *runtime);
void checkpointing_free (Checkpointing *checkpointing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Checkpointing, checkpointing_free)

void checkpointing_forward (Checkpointing *checkpointing, guint block);
void checkpointing_backward (Checkpointing *checkpointing, guint block);
