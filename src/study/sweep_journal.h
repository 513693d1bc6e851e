/* The finished rows of a sweep that is under way, in the order in which they were
 * finished: a line that says which sweep, then records, each with its length and a
 * checksum. What a kill tore off the end is noticed and written anew. */
#pragma once

#include "report/figures.h"
#include "study/sweep_identity.h"

typedef void (*SweepJournalRow) (gsize row, char *text, RunStatus status, gpointer data);

/* Of which sweep a journal is; FALSE where it does not say. sweep_identity_clear() it. */
gboolean sweep_journal_identity (const char *bytes, gsize length, SweepIdentity *identity);

/* Reads the rows of a journal of @identity; @take_row takes each row's text. Returns the
 * length of what is whole, from the begin. */
gsize sweep_journal_parse (const char *bytes, gsize length, const SweepIdentity *identity,
                           SweepJournalRow take_row, gpointer data);

/* A journal to be written. */
typedef struct _SweepJournal SweepJournal;

/* Goes on at @length of the file, and with 0 begins it. Only one program at a time may
 * have it. G_FILE_ERROR. */
SweepJournal *sweep_journal_open (const char *path, gsize length, const SweepIdentity *identity,
                                  GError **error);
void sweep_journal_free (SweepJournal *journal); /* without a flush */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SweepJournal, sweep_journal_free)

void sweep_journal_add (SweepJournal *journal, gsize row, const char *text, RunStatus status);
gboolean sweep_journal_flush (SweepJournal *journal, GError **error);
