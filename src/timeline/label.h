/* What a piece of work is for: the unit, phase and micro-batch that it serves.
 * Writers of host programs attach labels, the engine only hands them on, and
 * reports read them. */
#pragma once

#include <glib.h>

typedef enum
{
#define OP(name, text, is_collective) TIMELINE_##name,
#include "timeline/ops.def"
#undef OP
  N_TIMELINE_OPS
} TimelineOp;

typedef enum
{
#define PHASE(name, text) PHASE_##name,
#include "timeline/phases.def"
#undef PHASE
  N_TIMELINE_PHASES
} TimelinePhase;

typedef enum
{
#define LANE(name, text) LANE_##name,
#include "timeline/lanes.def"
#undef LANE
  N_TIMELINE_LANES
} TimelineLane;

typedef enum
{
#define KIND(name, column, words) MEMORY_##name,
#include "timeline/memory_kinds.def"
#undef KIND
  N_MEMORY_KINDS
} MemoryKind;

/* Units count from the root: the kernels of embedding and head carry units of
 * their own even where the root unit owns their parameters. */
enum
{
  UNIT_ROOT,
  UNIT_EMBED,
  UNIT_HEAD,
  UNIT_ENCODER, /* a stack of an encoder-decoder: what is not its blocks' */
  UNIT_DECODER,
  UNIT_FIRST_BLOCK,                          /* block k is UNIT_FIRST_BLOCK + k */
  UNIT_FIRST_PART = UNIT_FIRST_BLOCK + 16384 /* of a block: its attention, its MLP; of the next */
};

typedef enum
{
  PART_ATTENTION,
  PART_MLP,
  N_BLOCK_PARTS
} BlockPart;

static inline guint32
timeline_unit_of_part (guint block, BlockPart part)
{
  return UNIT_FIRST_PART + N_BLOCK_PARTS * block + (guint32)part;
}

/* Of a block or a part of it. */
static inline guint
timeline_block_of_unit (guint32 unit)
{
  return unit < UNIT_FIRST_PART ? unit - UNIT_FIRST_BLOCK
                                : (unit - UNIT_FIRST_PART) / N_BLOCK_PARTS;
}

typedef struct
{
  guint8 op;           /* TimelineOp */
  guint8 phase;        /* TimelinePhase */
  guint16 micro_batch; /* from 0 */
  guint32 unit;
} TimelineLabel;

G_STATIC_ASSERT (sizeof (TimelineLabel) == 8);

const char *timeline_op_name (TimelineOp op);
const char *timeline_phase_name (TimelinePhase phase);
const char *timeline_lane_name (TimelineLane lane);
const char *memory_kind_name (MemoryKind kind);  /* "unsharded_params" */
const char *memory_kind_words (MemoryKind kind); /* "unsharded parameters" */
gboolean timeline_op_is_collective (TimelineOp op);

/* "root", "embed", "head", "encoder", "decoder", "block.K", "block.K.attention" or "block.K.mlp";
 * the caller frees it. */
char *timeline_unit_name (guint32 unit);
/* The reverse; FALSE where @text is none of these. */
gboolean timeline_unit_parse (const char *text, guint32 *unit);
