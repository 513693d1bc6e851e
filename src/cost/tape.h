/* In what order a piece of a step takes and gives back the memory of its tensors.
 * Pieces that share tensors (a forward and its backward) number them alike. */
#pragma once

#include <glib.h>

#define TAPE_TENSORS 8
#define TAPE_CHANGES 16

typedef struct
{
  gint64 bytes; /* taken; 0: given back */
  guint8 tensor;
} TapeChange;

typedef struct
{
  TapeChange changes[TAPE_CHANGES];
  guint n;
} Tape;

static inline void
tape_take (Tape *tape, guint tensor, gint64 bytes)
{
  g_assert (tape->n < TAPE_CHANGES && tensor < TAPE_TENSORS);
  if (bytes > 0)
    tape->changes[tape->n++] = (TapeChange){ bytes, (guint8)tensor };
}

static inline void
tape_give (Tape *tape, guint tensor)
{
  g_assert (tape->n < TAPE_CHANGES && tensor < TAPE_TENSORS);
  tape->changes[tape->n++] = (TapeChange){ 0, (guint8)tensor };
}
