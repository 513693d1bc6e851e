/* The files that ship with the program. They are looked for in $FSDPSIM_DATA_DIR,
 * else beside the running program (build or source tree), else where installed. */
#pragma once

#include <glib.h>

typedef enum
{
  DATA_MODEL,     /* models/transformers/NAME.ini */
  DATA_GPU,       /* models/gpus/NAME.ini */
  DATA_CLUSTER,   /* models/clusters/NAME.ini */
  DATA_SOFTWARE,  /* models/software/NAME.ini */
  DATA_PUBLISHED, /* models/published/NAME.csv */
  DATA_SCENARIO,  /* scenarios/NAME.ini */
  DATA_PLOT       /* plots/NAME.gp */
} DataKind;

/* The path of a shipped file, or NULL where there is none. A @name holds no "/". The caller frees
 * it. */
char *data_find (DataKind kind, const char *name);

/* Names of all shipped files of a kind, sorted, NULL-terminated; g_strfreev() them. */
char **data_list (DataKind kind);
