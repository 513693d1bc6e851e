/* The chain of work that made the step as long as it is: from the end of the
 * last step back along what each record waited for last. */
#pragma once

#include "timeline/timeline.h"

typedef struct
{
  SimTime by_op[N_TIMELINE_OPS]; /* time on the path spent in each op */
  SimTime waiting_for_ranks;     /* inside collectives, until the last rank came */
  SimTime host;                  /* nothing on the device ran: the host had yet to issue */
  GArray *records;               /* guint32, in order of time; owned */
} CriticalPath;

/* The parts sum to the time of the reported steps. A host wait that blocked is
 * passed through to the work it blocked on; what comes after that work ended, as
 * the host's wake-up, is the host's time. */
void critical_path_find (const Timeline *timeline, CriticalPath *path);
void critical_path_clear (CriticalPath *path);
