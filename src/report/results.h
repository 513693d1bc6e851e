/* A folder of results as its files tell it: the input of pictures and pages. */
#pragma once

#include "report/results_csv.h"
#include "timeline/timeline.h"

/* What memory held from a moment on, in bytes. */
typedef struct
{
  SimTime time;
  double allocated;
  double by_kind[N_MEMORY_KINDS];
} ResultsMemory;

/* A row of per_unit.csv. */
typedef struct
{
  char *unit;
  double all_gathers_forward, all_gathers_backward, reduce_scatters, all_reduces;
  double all_gather_exposed_s, reduce_scatter_exposed_s;
} ResultsUnit;

/* A row of waits.csv: a collective, and how long its ranks waited for the last of them. */
typedef struct
{
  char *op, *unit, *phase;
  double mean_us, longest_us;
} ResultsWait;

/* The rows of ranks.csv that say the most. */
typedef struct
{
  guint n; /* 0: one rank stood for all */
  double fastest_s, slowest_s;
  guint fastest_rank, slowest_rank;
  double least_waited_s, most_waited_s, sum_waited_s;
  guint least_waited_rank, most_waited_rank;
} ResultsRanks;

/* A row of summary.csv and what the other files say of it. Numbers may be NaN. */
typedef struct
{
  char *name;
  guint row; /* in Results.variants */
  double step_time_s, tokens_per_s, tokens_per_s_per_gpu, mfu_percent, hfu_percent;
  double all_gathers, reduce_scatters, all_reduces, comm_bytes;
  double compute_s, exposed_comm_s, host_bound_s;
  double peak_allocated_bytes, peak_reserved_bytes;
  double capacity_bytes; /* from report.json, or NaN */
  char *scenario, *scenario_sha256, *version;
  char *status, *reason, *peak_phase;
  /* of training on --tokens, and of a plan; NaN: not in the file */
  double days, gpu_hours, cost, gpus, meets_limits, on_front;
  char **key_values;               /* of a sweep: one for each of Results.keys */
  double throughput_delta_percent; /* against the first variant; NaN: unknown */
  guint rank;          /* whose timeline and memory follow: the first in the files, the slowest */
  Timeline *timeline;  /* NULL: none. A stream for each lane, more where a lane's work overlaps;
                          stream_names are the lanes' names; every comm.* lane is LANE_COMM_SHARD */
  GArray *stream_ends; /* SimTime: of the last work of each stream; NULL without a timeline */
  GArray *memory;      /* ResultsMemory; NULL: none */
  GPtrArray *units;    /* ResultsUnit; NULL: none */
  ResultsRanks ranks;
  GPtrArray *waits; /* ResultsWait, in the host's order; NULL: none */
} ResultsVariant;

typedef struct
{
  char *title;         /* of the scenario; NULL: unknown */
  char **keys;         /* the varied keys of a sweep; NULL where there is no row */
  GPtrArray *variants; /* ResultsVariant, in the order of summary.csv */
  GHashTable *by_name; /* the first of each name; borrowed */
} Results;

typedef enum
{
  RESULTS_SUMMARY, /* to be read before the others */
  RESULTS_DELTAS,
  RESULTS_TIMELINE,
  RESULTS_MEMORY,
  RESULTS_DETAILS, /* report.json */
  RESULTS_UNITS,   /* per_unit.csv */
  RESULTS_RANKS,   /* ranks.csv */
  RESULTS_WAITS,   /* waits.csv */
  N_RESULTS_FILES
} ResultsFile;

const char *results_file_name (ResultsFile file); /* "summary.csv" */

Results *results_new (void);
void results_free (Results *results);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Results, results_free)

/* NULL and RESULTS_ERROR or G_FILE_ERROR where summary.csv is missing or a file is
 * broken; the other files may be missing. */
Results *results_read (const char *folder, GError **error);

/* Adds what one file says, given as text; @name is only named in messages. */
gboolean results_add (Results *results, ResultsFile file, const char *name, const char *text,
                      gsize length, GError **error);

static inline ResultsVariant *
results_variant (const Results *results, guint index)
{
  return g_ptr_array_index (results->variants, index);
}

gboolean results_did_run (const ResultsVariant *variant);
/* Ran, and within the memory that there is. */
gboolean results_fits (const ResultsVariant *variant);
/* Whether this is a sweep: the same variants under several values of some keys. */
gboolean results_is_sweep (const Results *results);
/* Whether this is a plan, of which only the best rows are there: a sweep as well. */
gboolean results_is_plan (const Results *results);
