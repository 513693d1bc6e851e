#include <config.h>

#include "interop/nccl_tests.h"

#include <math.h>
#include <string.h>

#include "config/scenario.h"

G_DEFINE_QUARK (fsdpsim_nccl_tests_error, nccl_tests_error)

#define MOST_WORDS 64
#define MOST_US    1e12

/* Columns of a table of results; -1 where it has none. */
typedef struct
{
  int size, redop, root, out_of_place, in_place;
  int n; /* of words in a line, at least */
} Columns;

/* The run whose lines are being read. */
typedef struct
{
  gboolean has_kind;
  CollectiveKind kind;
  gboolean has_columns;
  Columns columns;
  guint ranks;       /* lines "# Rank" so far */
  GHashTable *hosts; /* of these */
  gboolean has_rows;
} Run;

typedef struct
{
  const char *file;
  guint line;
  guint ranks, nodes; /* where a run does not tell them */
  Run run;
  NcclTests *tests;
} Reading;

static gboolean G_GNUC_PRINTF (3, 4)
    bad_line (const Reading *reading, GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;
  g_autofree char *valid = NULL; /* a quoted word may be cut within a letter */

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  valid = g_utf8_make_valid (text, -1);
  g_set_error (error, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_BAD_LINE, "%s:%u: %s", reading->file,
               reading->line, valid);
  return FALSE;
}

/* ---- which collective ---- */

/* The programs, by the name before "_perf". */
static const struct
{
  const char *program;
  CollectiveKind kind;
} programs[] = {
  { "all_gather", COLLECTIVE_ALL_GATHER }, { "reduce_scatter", COLLECTIVE_REDUCE_SCATTER },
  { "all_reduce", COLLECTIVE_ALL_REDUCE }, { "broadcast", COLLECTIVE_BROADCAST },
  { "sendrecv", COLLECTIVE_SEND_RECV },    { "alltoall", COLLECTIVE_ALL_TO_ALL },
};

/* Whether @line names one, as "# Collective test starting: all_gather_perf" does and as
 * command lines do. */
static gboolean
find_program (const char *line, CollectiveKind *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autofree char *name = g_strconcat (programs[i].program, "_perf", NULL);

      if (strstr (line, name) != NULL)
        {
          *kind = programs[i].kind;
          return TRUE;
        }
    }
  return FALSE;
}

/* Reductions tell themselves by their bandwidths: an all-reduce moves twice as much
 * over the bus as a reduce-scatter. */
static gboolean
guess_kind (const Columns *columns, char **words, guint ranks, CollectiveKind *kind)
{
  double algorithm = g_ascii_strtod (words[columns->out_of_place + 1], NULL);
  double bus = g_ascii_strtod (words[columns->out_of_place + 2], NULL);
  double part = (ranks - 1.0) / ranks;

  if (columns->redop < 0 || columns->root < 0 || strcmp (words[columns->redop], "none") == 0
      || strcmp (words[columns->root], "-1") != 0 || ranks < 3 || algorithm < 1)
    return FALSE;
  if (fabs (bus / algorithm / (2 * part) - 1) < 0.02)
    *kind = COLLECTIVE_ALL_REDUCE;
  else if (fabs (bus / algorithm / part - 1) < 0.02)
    *kind = COLLECTIVE_REDUCE_SCATTER;
  else
    return FALSE;
  return TRUE;
}

/* ---- lines ---- */

static void
begin_run (Reading *reading)
{
  Run *run = &reading->run;

  run->has_kind = run->has_columns = run->has_rows = FALSE;
  run->ranks = 0;
  g_hash_table_remove_all (run->hosts);
}

/* "  Rank  3 Group  0 Pid 4711 on node-1 device  3 [0x1a] NVIDIA H100 80GB HBM3" */
static void
take_rank (Reading *reading, char **words, guint n)
{
  Run *run = &reading->run;
  guint on = 0;

  while (on < n && strcmp (words[on], "on") != 0)
    on++;
  if (on + 1 >= n)
    return;
  if (run->has_rows) /* ranks of the next run */
    begin_run (reading);
  run->ranks++;
  g_hash_table_add (run->hosts, g_strdup (words[on + 1]));
  if (reading->tests->gpu != NULL || on + 5 >= n)
    return;
  reading->tests->host = g_strdup (words[on + 1]);
  reading->tests->gpu = g_strjoinv (" ", words + on + 5);
}

/* "#       size         count      type   redop    root     time   algbw   busbw #wrong     time …"
 */
static void
take_header (Reading *reading, char **words, guint n)
{
  Columns columns = { .size = -1, .redop = -1, .root = -1, .out_of_place = -1, .in_place = -1 };
  guint first = strcmp (words[0], "#") == 0 ? 1 : 0;

  for (guint i = first; i < n; i++)
    {
      int at = (int)(i - first);

      if (strcmp (words[i], "size") == 0)
        columns.size = at;
      else if (strcmp (words[i], "redop") == 0)
        columns.redop = at;
      else if (strcmp (words[i], "root") == 0)
        columns.root = at;
      else if (strcmp (words[i], "time") == 0 && columns.out_of_place < 0)
        columns.out_of_place = at;
      else if (strcmp (words[i], "time") == 0 && columns.in_place < 0)
        columns.in_place = at;
    }
  if (columns.size != 0 || columns.out_of_place < 0)
    return;
  columns.n = MAX (MAX (columns.out_of_place, columns.in_place) + 3,
                   MAX (columns.redop, columns.root) + 1);
  reading->run.columns = columns;
  reading->run.has_columns = TRUE;
}

static void
take_comment (Reading *reading, const char *line, char **words, guint n)
{
  CollectiveKind kind;

  if (strstr (line, "nThread") != NULL && strstr (line, "minBytes") != NULL)
    {
      /* The program's name may stand above this line. */
      gboolean has_kind = reading->run.has_kind && !reading->run.has_rows;

      begin_run (reading);
      reading->run.has_kind = has_kind;
    }
  else if (n > 2 && (strcmp (words[1], "Rank") == 0 || strcmp (words[0], "#Rank") == 0))
    take_rank (reading, words, n);
  else if (strstr (line, "size") != NULL && strstr (line, "count") != NULL)
    take_header (reading, words, n);
  else if (find_program (line, &kind))
    {
      if (reading->run.has_rows)
        begin_run (reading);
      reading->run.kind = kind;
      reading->run.has_kind = TRUE;
    }
}

static gboolean
take_time (const Reading *reading, const char *word, double *us, GError **error)
{
  char *end;

  *us = (double)NAN;
  if (strcmp (word, "N/A") == 0)
    return TRUE;
  if (word[strspn (word, "0123456789.eE+-")] == '\0')
    {
      *us = g_ascii_strtod (word, &end);
      if (end != word && *end == '\0' && *us > 0 && *us < MOST_US)
        return TRUE;
    }
  return bad_line (reading, error, "'%.40s' where a time above 0 in microseconds was expected",
                   word);
}

static gboolean
find_group (const Reading *reading, NcclTestsRow *row, GError **error)
{
  const Run *run = &reading->run;

  row->ranks = run->ranks > 0 ? run->ranks : reading->ranks;
  row->nodes = run->ranks > 0 ? g_hash_table_size (run->hosts) : reading->nodes;
  if (row->ranks == 0)
    return bad_line (reading, error,
                     "no lines '# Rank' above tell how many ranks ran on which hosts; --ranks N "
                     "and -s cluster.nodes=N would do");
  if (row->ranks < 2 || row->ranks > MOST_JOB_RANKS)
    return bad_line (reading, error, "a run of %u ranks; 2 to %u would do", row->ranks,
                     MOST_JOB_RANKS);
  return TRUE;
}

static gboolean
take_row (Reading *reading, char **words, guint n, GError **error)
{
  Run *run = &reading->run;
  const Columns *columns = &run->columns;
  NcclTestsRow row = { .line = reading->line, .in_place_us = (double)NAN };
  guint64 bytes;

  if (n < (guint)columns->n)
    return bad_line (reading, error, "%u columns, where the header of the table has %d and more", n,
                     columns->n);
  if (!g_ascii_string_to_unsigned (words[0], 10, 0, G_GINT64_CONSTANT (1) << 50, &bytes, NULL))
    return bad_line (reading, error, "'%.40s' is no size in bytes", words[0]);
  row.bytes = (gint64)bytes;
  if (!take_time (reading, words[columns->out_of_place], &row.out_of_place_us, error)
      || (columns->in_place >= 0
          && !take_time (reading, words[columns->in_place], &row.in_place_us, error))
      || !find_group (reading, &row, error))
    return FALSE;
  if (!run->has_kind)
    run->has_kind = guess_kind (columns, words, row.ranks, &run->kind);
  if (!run->has_kind)
    return bad_line (reading, error,
                     "no line above names the program; '# all_gather_perf' above the table would "
                     "do");
  row.kind = run->kind;
  reading->tests->n_runs += !run->has_rows;
  run->has_rows = TRUE;
  if (row.bytes > 0)
    g_array_append_val (reading->tests->rows, row);
  return TRUE;
}

/* mpirun --tag-output puts "[1,0]<stdout>:" in front of lines, srun -l "0: ". */
static const char *
behind_tag (const char *line)
{
  const char *at = line;
  const char *tag = strstr (line, "]<stdout>:");

  if (line[0] == '[' && tag != NULL)
    return tag + strlen ("]<stdout>:");
  at += strspn (at, " ");
  at += strspn (at, "0123456789");
  if (at > line && g_ascii_isdigit (at[-1]) && g_str_has_prefix (at, ": "))
    return at + 2;
  return line;
}

static gboolean
take_line (Reading *reading, const char *line, GError **error)
{
  const char *text = behind_tag (line);
  g_auto (GStrv) all = g_strsplit_set (text, " \t\r", -1);
  char *words[MOST_WORDS + 1] = { 0 };
  CollectiveKind kind;
  guint n = 0;

  for (guint i = 0; all[i] != NULL && n < MOST_WORDS; i++)
    if (*all[i] != '\0')
      words[n++] = all[i];
  if (n == 0)
    return TRUE;
  if (words[0][strspn (words[0], "0123456789")] == '\0')
    return !reading->run.has_columns || take_row (reading, words, n, error);
  if (words[0][0] == '#' || find_program (text, &kind)) /* or a command line */
    take_comment (reading, text, words, n);
  return TRUE;
}

static gboolean
take_lines (Reading *reading, const char *text, gsize length, GError **error)
{
  const char *end = text + length;

  while (text < end)
    {
      const char *stop = memchr (text, '\n', (gsize)(end - text));
      gsize n = (gsize)((stop != NULL ? stop : end) - text);
      g_autofree char *line = g_utf8_make_valid (text, (gssize)n);

      reading->line++;
      if (!take_line (reading, line, error))
        return FALSE;
      text += n + 1;
    }
  if (reading->tests->rows->len > 0)
    return TRUE;
  g_set_error (error, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_NO_RESULTS,
               "%s: no results of nccl-tests: %s", reading->file,
               reading->run.has_columns
                   ? "a table's header, and no lines below it"
                   : "no line '#  size  count  type … time  algbw  busbw' as all_gather_perf and "
                     "its kin print it");
  return FALSE;
}

NcclTests *
nccl_tests_parse (const char *file, const char *text, gsize length, guint ranks, guint nodes,
                  GError **error)
{
  NcclTests *tests = g_new0 (NcclTests, 1);
  Reading reading = { .file = file, .ranks = ranks, .nodes = nodes, .tests = tests };
  gboolean is_good;

  tests->rows = g_array_new (FALSE, FALSE, sizeof (NcclTestsRow));
  reading.run.hosts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  is_good = take_lines (&reading, text, length, error);
  g_hash_table_unref (reading.run.hosts);
  if (is_good)
    return tests;
  nccl_tests_free (tests);
  return NULL;
}

void
nccl_tests_free (NcclTests *tests)
{
  if (tests == NULL)
    return;
  g_array_unref (tests->rows);
  g_free (tests->gpu);
  g_free (tests->host);
  g_free (tests);
}
