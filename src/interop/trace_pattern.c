#include <config.h>

#include <stdlib.h>

#include "interop/trace_pattern.h"

#define MOST_SCALARS 64 /* elements of the all-reduce of clipping's norm, and the like */
#define NONE         G_MAXUINT

/* One micro-batch's forward all-gathers show which sizes are whose. */
typedef struct
{
  gint64 first, last; /* elements of the units that are no blocks; -1: none known, or none */
  gboolean has_first, has_last; /* the first or last of a forward is no block */
  guint n_blocks;
} Layout;

static gboolean
is_op (const TraceSeen *seen, TimelineOp op)
{
  return seen->op == op;
}

/* ---- phases and micro-batches, where the host did not tell them ---- */

static guint
count_op (const TraceSeen *seen, guint n, TimelineOp op)
{
  guint count = 0;

  for (guint i = 0; i < n; i++)
    count += is_op (&seen[i], op);
  return count;
}

/* A unit is reduced once; without reduction a pass gathers U units forward and U - 1 back. */
static guint
units_of_pass (guint n_gathers, guint n_reduces)
{
  if (n_reduces > 0 && n_reduces <= n_gathers)
    return n_reduces;
  return (n_gathers + 1) / 2;
}

static void
split_pass (TraceSeen *seen, guint n, guint16 micro_batch, guint n_units)
{
  guint n_gathers = 0;

  for (guint i = 0; i < n; i++)
    {
      const gboolean is_gather = is_op (&seen[i], TIMELINE_ALL_GATHER);

      seen[i].label.micro_batch = micro_batch;
      seen[i].label.phase = is_gather && n_gathers < n_units ? PHASE_FORWARD : PHASE_BACKWARD;
      n_gathers += is_gather;
    }
}

/* From @first on, the end of its micro-batch: the root's own size comes again. */
static guint
end_of_pass (const TraceSeen *seen, guint n, guint first, gint64 root)
{
  gboolean has_root = FALSE;

  for (guint i = first; i < n; i++)
    if (is_op (&seen[i], TIMELINE_ALL_GATHER) && seen[i].elements == root)
      {
        if (has_root)
          return i;
        has_root = TRUE;
      }
  return n;
}

static guint
count_size (const TraceSeen *seen, guint n, gint64 elements)
{
  guint count = 0;

  for (guint i = 0; i < n; i++)
    count += is_op (&seen[i], TIMELINE_ALL_GATHER) && seen[i].elements == elements;
  return count;
}

static gint64
first_size (const TraceSeen *seen, guint n)
{
  for (guint i = 0; i < n; i++)
    if (is_op (&seen[i], TIMELINE_ALL_GATHER))
      return seen[i].elements;
  return -1;
}

static void
split_passes (TraceSeen *seen, guint n)
{
  const guint n_gathers = count_op (seen, n, TIMELINE_ALL_GATHER);
  const gint64 root = first_size (seen, n);
  const gboolean has_root = root >= 0 && count_size (seen, n, root) * 3 < n_gathers;
  guint16 micro_batch = 0;
  guint n_units = 0;

  for (guint first = 0, end; first < n; first = end)
    {
      end = has_root ? end_of_pass (seen, n, first, root) : n;
      n_units = MAX (n_units,
                     units_of_pass (count_op (seen + first, end - first, TIMELINE_ALL_GATHER),
                                    count_op (seen + first, end - first, TIMELINE_REDUCE_SCATTER)));
    }
  for (guint first = 0, end; first < n; first = end)
    {
      end = has_root ? end_of_pass (seen, n, first, root) : n;
      split_pass (seen + first, end - first, micro_batch++, n_units);
    }
}

/* ---- which sizes are blocks ---- */

static gboolean
is_forward_gather (const TraceSeen *seen, guint16 micro_batch)
{
  return is_op (seen, TIMELINE_ALL_GATHER) && seen->label.phase == PHASE_FORWARD
         && seen->label.micro_batch == micro_batch;
}

static Layout
find_layout (const TraceSeen *seen, guint n)
{
  Layout layout = { .first = -1, .last = -1 };
  guint first = NONE, last = NONE, n_first = 0, n_last = 0, n_gathers = 0;

  for (guint i = 0; i < n; i++)
    if (is_forward_gather (&seen[i], 0))
      {
        first = first == NONE ? i : first;
        last = i;
        n_gathers++;
      }
  if (n_gathers < 2)
    {
      layout.has_first = n_gathers == 1;
      return layout;
    }
  for (guint i = first; i <= last; i++)
    if (is_forward_gather (&seen[i], 0))
      {
        n_first += seen[i].elements == seen[first].elements;
        n_last += seen[i].elements == seen[last].elements;
      }
  layout.has_first = seen[first].elements < 0 || n_first == 1;
  layout.has_last = seen[last].elements >= 0 && n_last == 1 && n_gathers > 2;
  layout.first = layout.has_first ? seen[first].elements : -1;
  layout.last = layout.has_last ? seen[last].elements : -1;
  layout.n_blocks = n_gathers - layout.has_first - layout.has_last;
  return layout;
}

/* Of one that is no block, its unit; UNIT_FIRST_BLOCK for a block. */
static guint32
unit_by_size (const Layout *layout, gint64 elements)
{
  if (elements >= 0 && elements == layout->first)
    return layout->has_last ? UNIT_EMBED : UNIT_ROOT;
  if (elements >= 0 && elements == layout->last)
    return UNIT_HEAD;
  return UNIT_FIRST_BLOCK;
}

/* ---- blocks by their place ---- */

static guint32
block (guint index, guint n_blocks)
{
  return index < n_blocks ? UNIT_FIRST_BLOCK + index : UNIT_ROOT;
}

/* From the last block on; where all but one are gathered, the last was kept. */
static guint32
backward_block (const Layout *layout, guint index, guint n_gathers)
{
  const guint n_blocks = layout->n_blocks;
  guint group, member;

  if (n_blocks == 0)
    return UNIT_ROOT;
  if (2 * n_gathers < 3 * n_blocks)
    return block (n_blocks - 1 - index - (n_gathers == n_blocks - 1), n_blocks);
  /* Twice each; FSDP2 then prefetches the block before again, after the first. */
  if (n_gathers + 1 < 3 * n_blocks || index < 2)
    return block (n_blocks - 1 - index / 2, n_blocks);
  group = 1 + (index - 2) / 3;
  member = (index - 2) % 3;
  return block (n_blocks - 1 - group + (member == 2), n_blocks);
}

/* ---- one micro-batch ---- */

typedef struct
{
  const Layout *layout;
  TraceSeen **seen; /* of the micro-batch */
  guint n;
  guint n_backward;                 /* all-gathers of blocks in backward */
  guint n_reduced;                  /* reduce-scatters of blocks */
  guint forward, backward, reduced; /* of blocks so far; forward: a root of unknown size too */
  guint32 last_reduced;
} Pass;

static gboolean
is_block (const Pass *pass, const TraceSeen *seen)
{
  return unit_by_size (pass->layout, seen->elements) == UNIT_FIRST_BLOCK;
}

static void
count_blocks (Pass *pass)
{
  for (guint i = 0; i < pass->n; i++)
    {
      const TraceSeen *seen = pass->seen[i];

      if (!is_block (pass, seen))
        continue;
      pass->n_backward += is_op (seen, TIMELINE_ALL_GATHER) && seen->label.phase == PHASE_BACKWARD;
      pass->n_reduced += is_op (seen, TIMELINE_REDUCE_SCATTER);
    }
}

static gboolean
root_has_no_size (const Layout *layout)
{
  return layout->has_first && layout->first < 0;
}

static guint32
gathered_block (Pass *pass, const TraceSeen *seen)
{
  guint index;

  if (seen->label.phase == PHASE_OPTIMIZER)
    return UNIT_ROOT;
  if (seen->label.phase == PHASE_BACKWARD)
    return backward_block (pass->layout, pass->backward++, pass->n_backward);
  index = pass->forward++;
  if (!root_has_no_size (pass->layout))
    return block (index, pass->layout->n_blocks);
  return index == 0 ? UNIT_ROOT : block (index - 1, pass->layout->n_blocks);
}

/* Where sizes are not told, the root's reduction is the one behind all blocks'; buckets
 * that hold several units, or parts of one, are nobody's. */
static guint32
reduced_block (Pass *pass)
{
  const guint n_blocks = pass->layout->n_blocks;
  const guint index = pass->reduced++;

  if (pass->n_reduced != n_blocks + root_has_no_size (pass->layout) || index >= n_blocks)
    return UNIT_ROOT;
  return block (n_blocks - 1 - index, n_blocks);
}

static guint32
unit_of (Pass *pass, const TraceSeen *seen)
{
  const guint32 by_size = unit_by_size (pass->layout, seen->elements);

  if (is_op (seen, TIMELINE_ALL_GATHER))
    return by_size != UNIT_FIRST_BLOCK ? by_size : gathered_block (pass, seen);
  if (is_op (seen, TIMELINE_REDUCE_SCATTER))
    pass->last_reduced = by_size != UNIT_FIRST_BLOCK ? by_size : reduced_block (pass);
  return pass->last_reduced; /* hybrid sharding reduces further what it scattered */
}

static void
label_pass (const Layout *layout, TraceSeen **seen, guint n)
{
  Pass pass = { .layout = layout, .seen = seen, .n = n, .last_reduced = UNIT_ROOT };

  count_blocks (&pass);
  for (guint i = 0; i < n; i++)
    seen[i]->label.unit = unit_of (&pass, seen[i]);
}

/* ---- the whole ---- */

static int
compare_micro_batches (gconstpointer a, gconstpointer b)
{
  const TraceSeen *left = *(TraceSeen *const *)a, *right = *(TraceSeen *const *)b;

  if (left->label.micro_batch != right->label.micro_batch)
    return left->label.micro_batch < right->label.micro_batch ? -1 : 1;
  return left < right ? -1 : left > right;
}

static void
label_passes (TraceSeen *seen, guint n)
{
  const Layout layout = find_layout (seen, n);
  g_autofree TraceSeen **sorted = g_new (TraceSeen *, n);

  for (guint i = 0; i < n; i++)
    sorted[i] = &seen[i];
  qsort (sorted, n, sizeof *sorted, compare_micro_batches);
  for (guint first = 0, end; first < n; first = end)
    {
      for (end = first + 1; end < n; end++)
        if (sorted[end]->label.micro_batch != sorted[first]->label.micro_batch)
          break;
      label_pass (&layout, sorted + first, end - first);
    }
}

static void
mark_clipping (TraceSeen *seen)
{
  if (!is_op (seen, TIMELINE_ALL_REDUCE) || seen->elements < 0 || seen->elements > MOST_SCALARS
      || seen->label.phase == PHASE_FORWARD)
    return;
  seen->label.op = TIMELINE_GRAD_CLIP;
  seen->label.phase = PHASE_OPTIMIZER;
  seen->label.unit = UNIT_ROOT;
}

void
trace_pattern_label (TraceSeen *seen, guint n)
{
  gboolean is_told = TRUE;

  for (guint i = 0; i < n; i++)
    {
      seen[i].label.op = (guint8)seen[i].op;
      seen[i].label.unit = UNIT_ROOT;
      is_told &= seen[i].has_phase;
    }
  if (count_op (seen, n, TIMELINE_ALL_GATHER) == 0)
    return;
  if (!is_told)
    split_passes (seen, n);
  label_passes (seen, n);
  for (guint i = 0; i < n; i++)
    mark_clipping (&seen[i]);
}
