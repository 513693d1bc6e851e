#include <config.h>

#include "timeline/label.h"

#include <string.h>

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

static const char *const names[UNIT_FIRST_BLOCK]
    = { "root", "embed", "head", "encoder", "decoder" };
static const char *const parts[N_BLOCK_PARTS] = { "attention", "mlp" };

char *
timeline_unit_name (guint32 unit)
{
  guint block;

  if (unit < UNIT_FIRST_BLOCK)
    return g_strdup (names[unit]);
  block = timeline_block_of_unit (unit);
  if (unit < UNIT_FIRST_PART)
    return g_strdup_printf ("block.%u", block);
  return g_strdup_printf ("block.%u.%s", block, parts[(unit - UNIT_FIRST_PART) % N_BLOCK_PARTS]);
}

static gboolean
parse_part (const char *text, guint block, guint32 *unit)
{
  for (guint part = 0; part < N_BLOCK_PARTS; part++)
    if (strcmp (text, parts[part]) == 0)
      {
        *unit = timeline_unit_of_part (block, (BlockPart)part);
        return TRUE;
      }
  return FALSE;
}

gboolean
timeline_unit_parse (const char *text, guint32 *unit)
{
  guint64 block;
  char *end;

  for (guint32 i = 0; i < UNIT_FIRST_BLOCK; i++)
    if (strcmp (text, names[i]) == 0)
      {
        *unit = i;
        return TRUE;
      }
  if (!g_str_has_prefix (text, "block.") || !g_ascii_isdigit (text[strlen ("block.")]))
    return FALSE;
  block = g_ascii_strtoull (text + strlen ("block."), &end, 10);
  if (block >= UNIT_FIRST_PART - UNIT_FIRST_BLOCK)
    return FALSE;
  *unit = UNIT_FIRST_BLOCK + (guint32)block;
  return *end == '\0' || (*end == '.' && parse_part (end + 1, (guint)block, unit));
}
