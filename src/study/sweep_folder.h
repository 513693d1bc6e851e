/* The folder of a sweep: rows in a journal while it runs, then summary.csv and
 * sweep.id, a line that says of which sweep they are. A run that was killed goes on
 * where it stood. */
#pragma once

#include "study/sweep.h"
#include "study/sweep_journal.h"

typedef struct _SweepFolder SweepFolder;

/* Makes @path if need be. Rows that are there of the same sweep go to @take_row; of
 * another, all is begun anew and *why says how it differs. G_FILE_ERROR. */
SweepFolder *sweep_folder_open (const char *path, const Sweep *sweep, SweepJournalRow take_row,
                                gpointer data, char **why, GError **error);
void sweep_folder_free (SweepFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SweepFolder, sweep_folder_free)

void sweep_folder_add (SweepFolder *folder, gsize row, const char *text, RunStatus status);
gboolean sweep_folder_flush (SweepFolder *folder, GError **error);

/* All rows are there: @summary is the text of summary.csv. */
gboolean sweep_folder_finish (SweepFolder *folder, const char *summary, GError **error);

/* Writes summary.csv and sweep.id, as sweep_folder_finish(). */
gboolean sweep_folder_write (const char *path, const SweepIdentity *identity, const char *summary,
                             GError **error);

/* The rows of all shards of one sweep, from the folders that they were written to, in
 * order. NULL and a G_FILE_ERROR where a folder cannot be read, or a SWEEP_ERROR where
 * shards are missing, unfinished, twice there or of different sweeps. Returns the text of
 * summary.csv; @identity, which the caller clears, is that of the whole. */
char *sweep_folder_merge (const char *const *paths, SweepIdentity *identity, GError **error);

#define SWEEP_ERROR (sweep_error_quark ())
GQuark sweep_error_quark (void);
