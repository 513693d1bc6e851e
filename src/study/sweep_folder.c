#include <config.h>

#include "study/sweep_folder.h"

#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "report/files.h"
#include "study/sweep_rows.h"

#define JOURNAL  "sweep.journal"
#define IDENTITY "sweep.id"
#define SUMMARY  "summary.csv"

G_DEFINE_QUARK (fsdpsim - sweep - error - quark, sweep_error)

struct _SweepFolder
{
  char *path;
  SweepIdentity identity; /* borrowed from the sweep */
  SweepJournal *journal;  /* NULL: every row was there already */
};

/* The text of a file of the folder; NULL where it is not there or cannot be read. */
static char *
read_file (const char *path, const char *name, gsize *length)
{
  g_autofree char *file = g_build_filename (path, name, NULL);
  char *text = NULL;

  return g_file_get_contents (file, &text, length, NULL) ? text : NULL;
}

static void
remove_file (const char *path, const char *name)
{
  g_autofree char *file = g_build_filename (path, name, NULL);

  g_unlink (file);
}

/* FALSE, and in *why the reason, where rows of @found are none of @wanted. */
static gboolean
is_same (const SweepIdentity *wanted, const SweepIdentity *found, char **why)
{
  *why = sweep_identity_difference (wanted, found);
  if (*why == NULL && (wanted->shard != found->shard || wanted->n_shards != found->n_shards))
    *why = g_strdup_printf ("of shard %u/%u", found->shard, found->n_shards);
  return *why == NULL;
}

static gsize
n_rows_of (const SweepIdentity *identity)
{
  return sweep_identity_shard_cells (identity) * identity->n_variants;
}

/* ---- what is there already ---- */

/* Rows of the journal; returns its length up to where it is whole, and 0 where there is
 * none of this sweep. */
static gsize
resume_journal (const SweepFolder *folder, SweepJournalRow take_row, gpointer data, char **why)
{
  gsize length, whole = 0;
  g_autofree char *bytes = read_file (folder->path, JOURNAL, &length);
  SweepIdentity found;

  if (bytes == NULL)
    return 0;
  if (sweep_journal_identity (bytes, length, &found) && is_same (&folder->identity, &found, why))
    whole = sweep_journal_parse (bytes, length, &folder->identity, take_row, data);
  sweep_identity_clear (&found);
  return whole;
}

static gboolean
is_identity_of (const char *path, const SweepIdentity *wanted, char **why)
{
  gsize length;
  g_autofree char *line = read_file (path, IDENTITY, &length);
  SweepIdentity found;
  gboolean same;

  if (line == NULL)
    return FALSE;
  same = sweep_identity_read (g_strchomp (line), &found) && is_same (wanted, &found, why);
  sweep_identity_clear (&found);
  return same;
}

/* All rows, where the sweep was finished. */
static gboolean
resume_finished (const SweepFolder *folder, SweepJournalRow take_row, gpointer data, char **why)
{
  gsize length;
  g_autofree char *text = NULL;
  g_autoptr (GArray) rows = NULL;

  if (!is_identity_of (folder->path, &folder->identity, why))
    return FALSE;
  text = read_file (folder->path, SUMMARY, &length);
  rows = text != NULL ? sweep_rows_read (text, length) : NULL;
  if (rows == NULL || rows->len != n_rows_of (&folder->identity))
    return FALSE;
  for (guint i = 0; i < rows->len; i++)
    {
      const SweepRow *row = &g_array_index (rows, SweepRow, i);

      take_row (i, g_strndup (row->text, row->length), row->status, data);
    }
  return TRUE;
}

static gboolean
open_journal (SweepFolder *folder, gsize length, GError **error)
{
  g_autofree char *file = g_build_filename (folder->path, JOURNAL, NULL);

  folder->journal = sweep_journal_open (file, length, &folder->identity, error);
  if (folder->journal == NULL)
    return FALSE;
  remove_file (folder->path, SUMMARY);
  remove_file (folder->path, IDENTITY);
  return TRUE;
}

SweepFolder *
sweep_folder_open (const char *path, const Sweep *sweep, SweepJournalRow take_row, gpointer data,
                   char **why, GError **error)
{
  g_autoptr (SweepFolder) folder = g_new0 (SweepFolder, 1);
  gsize length;

  *why = NULL;
  folder->path = g_strdup (path);
  folder->identity = *sweep_identity (sweep);
  if (!files_make_folder (path, error))
    return NULL;
  length = resume_journal (folder, take_row, data, why);
  if (length == 0 && *why == NULL && resume_finished (folder, take_row, data, why))
    return g_steal_pointer (&folder);
  return open_journal (folder, length, error) ? g_steal_pointer (&folder) : NULL;
}

void
sweep_folder_free (SweepFolder *folder)
{
  if (folder == NULL)
    return;
  sweep_journal_free (folder->journal);
  g_free (folder->path);
  g_free (folder);
}

/* ---- what is new ---- */

void
sweep_folder_add (SweepFolder *folder, gsize row, const char *text, RunStatus status)
{
  g_assert (folder->journal != NULL);
  sweep_journal_add (folder->journal, row, text, status);
}

gboolean
sweep_folder_flush (SweepFolder *folder, GError **error)
{
  return folder->journal == NULL || sweep_journal_flush (folder->journal, error);
}

gboolean
sweep_folder_write (const char *path, const SweepIdentity *identity, const char *summary,
                    GError **error)
{
  g_autofree char *line = sweep_identity_write (identity);
  g_autofree char *text = g_strconcat (line, "\n", NULL);

  return files_make_folder (path, error) && files_write (path, SUMMARY, summary, error)
         && files_write (path, IDENTITY, text, error);
}

gboolean
sweep_folder_finish (SweepFolder *folder, const char *summary, GError **error)
{
  if (!sweep_folder_write (folder->path, &folder->identity, summary, error))
    return FALSE;
  remove_file (folder->path, JOURNAL);
  return TRUE;
}
