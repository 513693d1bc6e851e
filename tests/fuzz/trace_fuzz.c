/* Any bytes as a profiler trace, plain or gzipped: they are refused with a reason, or give
 * steps whose parts sum to their time, tables and files. */
#include <config.h>

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "study/measured_step.h"

static void
write_bytes (int file, const uint8_t *data, size_t size)
{
  while (size > 0)
    {
      const ssize_t n = write (file, data, size);

      g_assert (n > 0);
      data += n;
      size -= (size_t)n;
    }
}

static void
check_job (const Recorded *job)
{
  for (guint i = 0; i < job->ranks->len; i++)
    {
      const RecordedRank *rank = &g_array_index (job->ranks, RecordedRank, i);
      const double parts_s = rank->compute_s + recorded_sum (rank->exposed_s) + rank->host_bound_s;

      g_assert (rank->n_steps > 0);
      g_assert (fabs (parts_s - rank->step_time_s) <= 1e-9 * (1 + fabs (parts_s)));
    }
}

static void
write_all (const GPtrArray *jobs)
{
  char *(*const writers[]) (const GPtrArray *jobs)
      = { recorded_table,       recorded_json,      recorded_per_unit_csv,
          recorded_summary_csv, recorded_ranks_csv, recorded_collectives_csv };

  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    g_free (writers[i](jobs)); /* cppcheck-suppress uninitvar */
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const int file = memfd_create ("trace", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", file);
  const char *const paths[] = { path, path, NULL };
  const RecordedOptions options = { .paths = paths + (size % 2) };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) jobs = NULL;

  g_autoptr (MeasuredStep) step = NULL;

  write_bytes (file, data, size);
  jobs = recorded_study (&options, &error);
  g_assert ((jobs == NULL) == (error != NULL));
  for (guint i = 0; jobs != NULL && i < jobs->len; i++)
    check_job (g_ptr_array_index (jobs, i));
  if (jobs != NULL)
    write_all (jobs);
  step = measured_step_read (&options, NULL);
  if (step != NULL)
    measured_step_spread (step, 4);
  close (file);
  return 0;
}
