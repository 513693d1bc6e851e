#include <config.h>

#include "report/what_if.h"

#include <math.h>

#include "report/format.h"
#include "report/text_table.h"

static const struct
{
  const char *name, *words;
} kinds[N_WHAT_IFS] = {
  [WHAT_IF_NICS] = { "nics_x2", "NICs twice as fast" },
  [WHAT_IF_LINKS] = { "links_x2", "links inside nodes twice as fast" },
  [WHAT_IF_LATENCY] = { "latency_half", "latencies of collectives halved" },
  [WHAT_IF_MATMULS] = { "matmuls_x1.25", "matmuls and attention 25 % faster" },
  [WHAT_IF_MEMORY] = { "gpu_memory_x1.25", "GPU memory 25 % faster" },
  [WHAT_IF_HOST] = { "host_x2", "host twice as fast" },
  [WHAT_IF_NO_SLOWDOWN] = { "no_slowdown", "kernels not slowed by collectives" },
};

const char *
what_if_words (WhatIfKind kind)
{
  g_assert (kind < N_WHAT_IFS);
  return kinds[kind].words;
}

const char *
what_if_name (WhatIfKind kind)
{
  g_assert (kind < N_WHAT_IFS);
  return kinds[kind].name;
}

static double
change_percent (double seconds, double step_time_s)
{
  return 100 * (seconds / step_time_s - 1);
}

/* ---- CSV ---- */

static void
add_row (Csv *csv, const char *what, double seconds, double step_time_s)
{
  csv_add_text (csv, what);
  csv_add_seconds (csv, seconds);
  csv_add_number (csv, change_percent (seconds, step_time_s));
  csv_end_row (csv);
}

char *
what_if_csv (const WhatIf *what_if, double step_time_s)
{
  Csv csv;

  csv_begin (&csv, "what_if,step_time_s,change_percent");
  for (WhatIfKind kind = 0; kind < N_WHAT_IFS; kind++)
    if (!isnan (what_if->step_time_s[kind]))
      add_row (&csv, what_if_name (kind), what_if->step_time_s[kind], step_time_s);
  add_row (&csv, "compute_alone", what_if->compute_alone_s, step_time_s);
  add_row (&csv, "wire_alone", what_if->wire_alone_s, step_time_s);
  return csv_finish (&csv);
}

/* ---- for people ---- */

static void
add_line (TextTable *table, const char *what, double seconds, double step_time_s)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, what);
  text_table_add (table, format_fixed (buffer, 3, 1e3 * seconds));
  text_table_add (table, format_real (buffer, "%+.1f", change_percent (seconds, step_time_s)));
}

static void
append_distance (const WhatIf *what_if, double step_time_s, GString *text)
{
  const double bound = MAX (what_if->compute_alone_s, what_if->wire_alone_s);
  char over[FORMAT_SIZE];

  if (bound > 0)
    g_string_append_printf (text, "The step takes %s %% longer than the larger bound, %s.\n\n",
                            format_fixed (over, 1, change_percent (step_time_s, bound)),
                            what_if->compute_alone_s >= what_if->wire_alone_s ? "compute" : "wire");
}

void
what_if_append (const WhatIf *what_if, double step_time_s, GString *text)
{
  g_autoptr (TextTable) table = text_table_new (3);

  text_table_add (table, "what if");
  text_table_add (table, "step ms");
  text_table_add (table, "change %");
  for (WhatIfKind kind = 0; kind < N_WHAT_IFS; kind++)
    if (!isnan (what_if->step_time_s[kind]))
      add_line (table, what_if_words (kind), what_if->step_time_s[kind], step_time_s);
  add_line (table, "bound: compute alone, not slowed", what_if->compute_alone_s, step_time_s);
  add_line (table, "bound: collectives alone", what_if->wire_alone_s, step_time_s);
  text_table_render (table, text);
  append_distance (what_if, step_time_s, text);
}
