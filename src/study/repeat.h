/* A run again under other seeds: what its noise costs on average. */
#pragma once

#include "study/study.h"
#include "study/study_pool.h"

#define REPEAT_MOST 100000u

/* Fills in the noise of those of @runs that ran: under the seeds s, s + 1, … s + @n_repeats - 1, s
 * being simulation.seed. The same for any number of threads. Where nothing is drawn, without
 * compute_jitter and gpu_spread, the run's own step time stands for all. @progress may be NULL. */
void repeat_study (ReportRun *const *runs, guint n_runs, guint n_repeats, guint n_threads,
                   StudyProgress progress, gpointer data);
