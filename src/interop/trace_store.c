/* Runs of records are put in order by counting their keys' bytes from the lowest on,
 * which is stable and takes a tenth of the time of comparing. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "interop/trace_store.h"

#define RUN_RECORDS   (64 * 1024)
#define MERGE_BYTES   (6 * 1024 * 1024) /* of buffers of all runs */
#define MOST_BUFFERED 1024              /* records of a run */

typedef struct
{
  guint64 begin, n_records; /* in the file */
  guint64 next;             /* to be read into the buffer */
  TraceRecord *buffer;
  guint n_buffered, at;
} Run;

struct _TraceStore
{
  TraceRecord *records; /* of the run at hand, RUN_RECORDS of them */
  guint n_records, at;
  int file; /* of the runs before; -1: none */
  guint64 n_written, n_total;
  GArray *runs; /* Run */
  guint *heap;  /* indexes of runs, the one with the first record on top */
  guint n_heap;
  gboolean top_is_taken; /* the last call lent the top's record */
  int error;             /* errno of what failed; 0: nothing */
};

TraceStore *
trace_store_new (void)
{
  TraceStore *store = g_new0 (TraceStore, 1);

  store->records = g_new (TraceRecord, RUN_RECORDS);
  store->file = -1;
  store->runs = g_array_new (FALSE, TRUE, sizeof (Run));
  return store;
}

static Run *
run_at (const TraceStore *store, guint index)
{
  return &g_array_index (store->runs, Run, index);
}

void
trace_store_free (TraceStore *store)
{
  if (store == NULL)
    return;
  for (guint i = 0; i < store->runs->len; i++)
    g_free (run_at (store, i)->buffer);
  g_array_unref (store->runs);
  g_free (store->heap);
  g_free (store->records);
  if (store->file >= 0)
    close (store->file);
  g_free (store);
}

static inline gboolean
is_before (const TraceRecord *a, const TraceRecord *b)
{
  if (a->process != b->process)
    return a->process < b->process;
  if (a->start != b->start)
    return a->start < b->start;
  return a->sequence < b->sequence;
}

/* ---- order of a run ---- */

typedef struct
{
  guint64 key;
  guint32 index;
} SortEntry;

#define N_DIGITS 256

/* One pass of a radix sort; FALSE where all entries have the same digit. */
static gboolean
sort_by_digit (const SortEntry *from, SortEntry *to, guint n, guint shift)
{
  guint fill[N_DIGITS] = { 0 };
  guint sum = 0;

  for (guint i = 0; i < n; i++)
    fill[(from[i].key >> shift) % N_DIGITS]++;
  if (fill[(from[0].key >> shift) % N_DIGITS] == n)
    return FALSE;
  for (guint digit = 0; digit < N_DIGITS; digit++)
    {
      const guint count = fill[digit];

      fill[digit] = sum;
      sum += count;
    }
  for (guint i = 0; i < n; i++)
    to[fill[(from[i].key >> shift) % N_DIGITS]++] = from[i];
  return TRUE;
}

static void
sort_by_key (SortEntry **entries, SortEntry **spare, guint n)
{
  for (guint shift = 0; shift < 64; shift += 8)
    if (sort_by_digit (*entries, *spare, n, shift))
      {
        SortEntry *sorted = *spare;

        *spare = *entries;
        *entries = sorted;
      }
}

static gboolean
is_sorted (const TraceRecord *records, guint n)
{
  for (guint i = 1; i < n; i++)
    if (is_before (&records[i], &records[i - 1]))
      return FALSE;
  return TRUE;
}

/* Records come in the order of the file, which a stable sort keeps among equals. */
static void
sort_run (TraceStore *store)
{
  const guint n = store->n_records;
  TraceRecord *sorted;
  SortEntry *entries, *spare;

  if (is_sorted (store->records, n))
    return;
  entries = g_new (SortEntry, n);
  spare = g_new (SortEntry, n);
  sorted = g_new (TraceRecord, RUN_RECORDS);
  for (guint i = 0; i < n; i++)
    entries[i]
        = (SortEntry){ (guint64)store->records[i].start ^ (G_GUINT64_CONSTANT (1) << 63), i };
  sort_by_key (&entries, &spare, n);
  for (guint i = 0; i < n; i++)
    entries[i].key = store->records[entries[i].index].process;
  sort_by_key (&entries, &spare, n);
  for (guint i = 0; i < n; i++)
    sorted[i] = store->records[entries[i].index];
  g_free (store->records);
  store->records = sorted;
  g_free (entries);
  g_free (spare);
}

/* ---- the file ---- */

static gboolean
write_all (int file, const void *data, gsize size)
{
  const char *at = data;

  while (size > 0)
    {
      const gssize n = write (file, at, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      at += n;
      size -= (gsize)n;
    }
  return TRUE;
}

static gboolean
read_all (int file, void *data, gsize size, guint64 offset)
{
  char *at = data;

  while (size > 0)
    {
      const gssize n = pread (file, at, size, (off_t)offset);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      at += n;
      size -= (gsize)n;
      offset += (guint64)n;
    }
  return TRUE;
}

static int
open_temporary (void)
{
  g_autofree char *name = NULL;
  const int file = g_file_open_tmp ("fsdpsim-trace-XXXXXX", &name, NULL);

  if (file >= 0)
    g_unlink (name);
  return file;
}

static void
write_run (TraceStore *store)
{
  Run run = { .begin = store->n_written, .n_records = store->n_records };

  if (store->n_records == 0 || store->error != 0)
    return;
  sort_run (store);
  if (store->file < 0)
    store->file = open_temporary ();
  if (store->file < 0
      || !write_all (store->file, store->records, store->n_records * sizeof *store->records))
    store->error = errno != 0 ? errno : EIO;
  store->n_written += store->n_records;
  store->n_records = 0;
  g_array_append_val (store->runs, run);
}

void
trace_store_add (TraceStore *store, const TraceRecord *record)
{
  if (store->n_records == RUN_RECORDS)
    write_run (store);
  store->records[store->n_records++] = *record;
  store->n_total++;
  if (store->error != 0)
    store->n_records = 0;
}

gboolean
trace_store_is_sound (const TraceStore *store, GError **error)
{
  if (store->error == 0)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (store->error),
               "temporary file in %s: %s", g_get_tmp_dir (), g_strerror (store->error));
  return FALSE;
}

gboolean
trace_store_finish (TraceStore *store, gboolean keep, GError **error)
{
  if (store->runs->len == 0 && keep)
    sort_run (store);
  else
    {
      write_run (store);
      g_clear_pointer (&store->records, g_free);
    }
  if (store->error == 0)
    trace_store_rewind (store);
  return trace_store_is_sound (store, error);
}

/* ---- merging ---- */

static guint
buffer_records (const TraceStore *store)
{
  const gsize each = MERGE_BYTES / sizeof (TraceRecord) / MAX (store->runs->len, 1);

  return (guint)CLAMP (each, 1, MOST_BUFFERED);
}

static void
refill (TraceStore *store, Run *run)
{
  const guint64 left = run->n_records - run->next;

  run->n_buffered = (guint)MIN (left, buffer_records (store));
  run->at = 0;
  if (run->n_buffered > 0
      && !read_all (store->file, run->buffer, run->n_buffered * sizeof (TraceRecord),
                    (run->begin + run->next) * sizeof (TraceRecord)))
    {
      store->error = errno != 0 ? errno : EIO;
      run->n_buffered = 0;
      run->next = run->n_records;
    }
  run->next += run->n_buffered;
}

static const TraceRecord *
head_of (const TraceStore *store, guint place)
{
  const Run *run = run_at (store, store->heap[place]);

  return &run->buffer[run->at];
}

static void
sift_down (TraceStore *store, guint place)
{
  for (;;)
    {
      guint least = place;

      for (guint child = 2 * place + 1; child <= 2 * place + 2 && child < store->n_heap; child++)
        if (is_before (head_of (store, child), head_of (store, least)))
          least = child;
      if (least == place)
        return;
      guint swapped = store->heap[least];
      store->heap[least] = store->heap[place];
      store->heap[place] = swapped;
      place = least;
    }
}

void
trace_store_rewind (TraceStore *store)
{
  store->at = 0;
  store->n_heap = 0;
  store->top_is_taken = FALSE;
  store->heap = g_renew (guint, store->heap, store->runs->len + 1);
  for (guint i = 0; i < store->runs->len; i++)
    {
      Run *run = run_at (store, i);

      if (run->buffer == NULL)
        run->buffer = g_new (TraceRecord, buffer_records (store));
      run->next = 0;
      refill (store, run);
      if (run->n_buffered > 0)
        store->heap[store->n_heap++] = i;
    }
  for (guint place = store->n_heap; place-- > 0;)
    sift_down (store, place);
}

/* Leaves the record that was lent last. */
static void
advance_top (TraceStore *store)
{
  Run *run = run_at (store, store->heap[0]);

  if (++run->at == run->n_buffered)
    refill (store, run);
  if (run->n_buffered == 0)
    store->heap[0] = store->heap[--store->n_heap];
  sift_down (store, 0);
}

const TraceRecord *
trace_store_next (TraceStore *store)
{
  if (store->runs->len == 0)
    return store->at < store->n_records ? &store->records[store->at++] : NULL;
  if (store->top_is_taken)
    advance_top (store);
  store->top_is_taken = store->n_heap > 0;
  return store->n_heap > 0 ? head_of (store, 0) : NULL;
}
