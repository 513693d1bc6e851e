#include <config.h>

#include "timeline/label.h"

const char *
timeline_op_name (TimelineOp op)
{
  static const char *const names[] = {
#define OP(name, text, is_collective) text,
#include "timeline/ops.def"
#undef OP
  };

  g_assert (op < G_N_ELEMENTS (names));
  return names[op];
}

const char *
timeline_phase_name (TimelinePhase phase)
{
  static const char *const names[] = {
#define PHASE(name, text) text,
#include "timeline/phases.def"
#undef PHASE
  };

  g_assert (phase < G_N_ELEMENTS (names));
  return names[phase];
}

const char *
timeline_lane_name (TimelineLane lane)
{
  static const char *const names[] = {
#define LANE(name, text) text,
#include "timeline/lanes.def"
#undef LANE
  };

  g_assert (lane < G_N_ELEMENTS (names));
  return names[lane];
}

const char *
memory_kind_name (MemoryKind kind)
{
  static const char *const names[] = {
#define KIND(name, column, words) column,
#include "timeline/memory_kinds.def"
#undef KIND
  };

  g_assert (kind < G_N_ELEMENTS (names));
  return names[kind];
}

const char *
memory_kind_words (MemoryKind kind)
{
  static const char *const words_of[] = {
#define KIND(name, column, words) words,
#include "timeline/memory_kinds.def"
#undef KIND
  };

  g_assert (kind < G_N_ELEMENTS (words_of));
  return words_of[kind];
}

gboolean
timeline_op_is_collective (TimelineOp op)
{
  static const gboolean answers[] = {
#define OP(name, text, is_collective) is_collective,
#include "timeline/ops.def"
#undef OP
  };

  g_assert (op < G_N_ELEMENTS (answers));
  return answers[op];
}

char *
timeline_unit_name (guint32 unit)
{
  static const char *const names[UNIT_FIRST_BLOCK] = { "root", "embed", "head" };

  if (unit < UNIT_FIRST_BLOCK)
    return g_strdup (names[unit]);
  return g_strdup_printf ("block.%u", unit - UNIT_FIRST_BLOCK);
}
