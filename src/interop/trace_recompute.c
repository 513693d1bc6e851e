#include <config.h>

#include "interop/trace_recompute.h"

#define REACH       4 /* kernels of the forward that may be left out in a row */
#define MOST_MISSES 4 /* kernels in a row that are not the forward's: it has ended */
#define NO_PASS     G_MAXUINT64

typedef struct
{
  GArray *names;                       /* guint32, of the last forward */
  guint64 forward_pass, backward_pass; /* NO_PASS: none yet */
  guint at, n_misses;                  /* of the backward pass */
  gboolean is_over;                    /* its recomputation */
  guint64 n_forward, n_matched;        /* kernels of all passes of the first reading */
} Unit;

struct _TraceRecompute
{
  GPtrArray *units; /* Unit, NULL where none was seen */
  gboolean has_learned;
};

static void
unit_free (gpointer data)
{
  Unit *unit = data;

  if (unit == NULL)
    return;
  g_array_unref (unit->names);
  g_free (unit);
}

TraceRecompute *
trace_recompute_new (void)
{
  TraceRecompute *recompute = g_new0 (TraceRecompute, 1);

  recompute->units = g_ptr_array_new_with_free_func (unit_free);
  return recompute;
}

void
trace_recompute_free (TraceRecompute *recompute)
{
  if (recompute == NULL)
    return;
  g_ptr_array_unref (recompute->units);
  g_free (recompute);
}

static Unit *
find_unit (TraceRecompute *recompute, guint32 index)
{
  Unit *unit;

  if (index >= recompute->units->len)
    g_ptr_array_set_size (recompute->units, (gint)index + 1);
  unit = g_ptr_array_index (recompute->units, index);
  if (unit != NULL)
    return unit;
  unit = g_new0 (Unit, 1);
  unit->names = g_array_new (FALSE, FALSE, sizeof (guint32));
  unit->forward_pass = unit->backward_pass = NO_PASS;
  recompute->units->pdata[index] = unit;
  return unit;
}

void
trace_recompute_forward (TraceRecompute *recompute, guint32 index, guint64 pass, guint32 name)
{
  Unit *unit = find_unit (recompute, index);

  if (unit->forward_pass != pass)
    g_array_set_size (unit->names, 0);
  unit->forward_pass = pass;
  g_array_append_val (unit->names, name);
  unit->n_forward += !recompute->has_learned;
}

static gboolean
continues (Unit *unit, guint32 name)
{
  const guint end = MIN (unit->at + REACH, unit->names->len);

  for (guint i = unit->at; i < end && !unit->is_over; i++)
    if (g_array_index (unit->names, guint32, i) == name)
      {
        unit->at = i + 1;
        unit->n_misses = 0;
        return TRUE;
      }
  unit->is_over = ++unit->n_misses > MOST_MISSES || unit->at >= unit->names->len;
  return FALSE;
}

gboolean
trace_recompute_backward (TraceRecompute *recompute, guint32 index, guint64 pass, guint32 name)
{
  Unit *unit = find_unit (recompute, index);

  if (recompute->has_learned && 2 * unit->n_matched < unit->n_forward)
    return FALSE;
  if (unit->backward_pass != pass)
    {
      unit->at = unit->n_misses = 0;
      unit->is_over = unit->forward_pass != pass;
    }
  unit->backward_pass = pass;
  if (!continues (unit, name))
    return FALSE;
  unit->n_matched += !recompute->has_learned;
  return TRUE;
}

void
trace_recompute_learn (TraceRecompute *recompute)
{
  recompute->has_learned = TRUE;
  for (guint i = 0; i < recompute->units->len; i++)
    {
      Unit *unit = g_ptr_array_index (recompute->units, i);

      if (unit != NULL)
        unit->forward_pass = unit->backward_pass = NO_PASS;
    }
}
