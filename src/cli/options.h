/* The options of all commands, each written down once. A command names those
 * that mean something to it; others are a usage error there. */
#pragma once

#include "interop/job.h"
#include "report/budget.h"
#include "study/plan_find.h"

typedef enum
{
  OPTION_SET = 1 << 0,
  OPTION_OUTPUT = 1 << 1,
  OPTION_FORMAT = 1 << 2,
  OPTION_MAN_FORMAT = 1 << 3, /* -f takes "man" too; no option of its own */
  OPTION_JOBS = 1 << 4,
  OPTION_SEED = 1 << 5,
  OPTION_RANKS = 1 << 6,
  OPTION_VARIANT = 1 << 7,
  OPTION_TERMINAL = 1 << 8,
  OPTION_VARY = 1 << 9,
  OPTION_BUDGET = 1 << 10, /* --tokens, --price */
  OPTION_BREAK_EVEN = 1 << 11,
  OPTION_REPEAT = 1 << 12,
  OPTION_QUALITY = 1 << 13,
  OPTION_REQUIRE = 1 << 14,
  OPTION_RUN_ID = 1 << 15,
  OPTION_FOLDS = 1 << 16,
  OPTION_SWEEP = 1 << 17,     /* those of `sweep` alone */
  OPTION_PLAN = 1 << 18,      /* those of `plan` alone */
  OPTION_CHECK = 1 << 19,     /* those of `check` alone */
  OPTION_MEASURED = 1 << 20,  /* those of `import` alone */
  OPTION_NETWORK = 1 << 21,   /* those of `net` alone */
  OPTION_EVERYWHERE = 1 << 22 /* -q, -v, --help, --version */
} OptionSet;

typedef enum
{
  FORMAT_TABLE,
  FORMAT_CSV,
  FORMAT_JSON,
  FORMAT_MAN /* `list keys` only: the part of the manual that lists them */
} Format;

typedef struct
{
  char *trainer, *model, *cluster; /* files or names, or NULL */
  guint nodes;                     /* 0: not given */
  Versions versions;
} CheckOptions;

typedef struct
{
  GPtrArray *overrides; /* char *, "section.key=value", in the order given */
  char *folder;         /* -o, or NULL */
  Format format;
  guint n_jobs;  /* by default the number of processors */
  GArray *ranks; /* guint; empty where none were asked for */
  gboolean all_ranks;
  char *variant;       /* or NULL */
  char *terminal;      /* "svg", "png" or "pdf" */
  guint64 seed;        /* of --seed, by default 1 */
  char *quality;       /* letters, or NULL */
  char *require;       /* bounds, or NULL */
  char *run_id;        /* --scenario of `validate`, or NULL */
  guint n_folds;       /* of --folds, by default 5; 0: by source */
  char *base_scenario; /* --scenario of `import`, or NULL */
  gboolean fits_network;
  GArray *collectives; /* CollectiveKind; empty where none were named */
  GArray *sizes;       /* gint64, bytes; empty where none were given */
  gboolean in_place;
  char *calibrate, *against; /* files, or NULL */
  GPtrArray *vary;           /* char *, "section.key=V1,V2" */
  GPtrArray *points;         /* char *, names of CSV files */
  guint shard, n_shards;     /* 1 of 1 where not asked for */
  gboolean merge, break_even;
  guint n_repeats; /* of --repeat; 0 where it was not given */
  Budget budget;
  PlanLimits limits; /* of `plan`; tokens and price are in the budget */
  FindWhat find;
  CheckOptions check;
  gboolean quiet, verbose, help, version;
  GPtrArray *arguments; /* char *, what is no option */
} Options;

void options_init (Options *options);
void options_clear (Options *options);

/* Takes the options of @taken from argv[1] on. G_OPTION_ERROR for anything else. */
gboolean options_parse (Options *options, OptionSet taken, int argc, char **argv, GError **error);

/* What --help says of the options of @taken, a line each. The caller frees it. */
char *options_list (OptionSet taken);

/* NULL-terminated "section.key=value" for ScenarioOptions; borrowed. */
const char *const *options_overrides (const Options *options);
