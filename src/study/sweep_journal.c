#include <config.h>

#include "study/sweep_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib/gstdio.h>

#define LONGEST_LINE 256

/* FNV-1a (Fowler, Noll, Vo), 64 bits: tells a torn record from a whole one. */
static guint64
checksum (const char *bytes, gsize length)
{
  guint64 sum = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (gsize i = 0; i < length; i++)
    sum = (sum ^ (guchar)bytes[i]) * G_GUINT64_CONSTANT (0x100000001b3);
  return sum;
}

/* ---- reading ---- */

/* The line at *at, which moves behind it; NULL where it does not end. The caller frees it. */
static char *
take_line (const char *bytes, gsize length, gsize *at)
{
  const gsize rest = MIN (length - *at, LONGEST_LINE);
  const char *begin = bytes + *at;
  const char *end = rest > 0 ? memchr (begin, '\n', rest) : NULL;

  if (end == NULL || memchr (begin, '\0', (gsize)(end - begin)) != NULL)
    return NULL;
  *at += (gsize)(end - begin) + 1;
  return g_strndup (begin, (gsize)(end - begin));
}

typedef struct
{
  guint64 row, status, length, sum;
} RecordHead;

/* "ROW STATUS LENGTH CHECKSUM" */
static gboolean
read_head (const char *line, RecordHead *head)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 5);

  return g_strv_length (words) == 4
         && g_ascii_string_to_unsigned (words[0], 10, 0, G_MAXINT64, &head->row, NULL)
         && g_ascii_string_to_unsigned (words[1], 10, 0, RUN_FAILED, &head->status, NULL)
         && g_ascii_string_to_unsigned (words[2], 10, 0, G_MAXINT32, &head->length, NULL)
         && g_ascii_string_to_unsigned (words[3], 16, 0, G_MAXUINT64, &head->sum, NULL);
}

/* The record at *at, which moves behind it; FALSE where it is not whole. */
static gboolean
take_record (const char *bytes, gsize length, gsize *at, gsize n_rows, SweepJournalRow take_row,
             gpointer data)
{
  gsize behind = *at;
  g_autofree char *line = take_line (bytes, length, &behind);
  RecordHead head;

  if (line == NULL || !read_head (line, &head) || head.row >= n_rows
      || head.length >= length - behind || bytes[behind + head.length] != '\n'
      || memchr (bytes + behind, '\0', head.length) != NULL
      || checksum (bytes + behind, head.length) != head.sum)
    return FALSE;
  take_row (head.row, g_strndup (bytes + behind, head.length), (RunStatus)head.status, data);
  *at = behind + head.length + 1;
  return TRUE;
}

gboolean
sweep_journal_identity (const char *bytes, gsize length, SweepIdentity *identity)
{
  gsize at = 0;
  g_autofree char *line = take_line (bytes, length, &at);

  *identity = (SweepIdentity){ 0 };
  return line != NULL && sweep_identity_read (line, identity);
}

gsize
sweep_journal_parse (const char *bytes, gsize length, const SweepIdentity *identity,
                     SweepJournalRow take_row, gpointer data)
{
  const gsize n_rows = sweep_identity_shard_cells (identity) * identity->n_variants;
  gsize at = 0;
  g_autofree char *line = take_line (bytes, length, &at);

  if (line == NULL)
    return 0;
  while (take_record (bytes, length, &at, n_rows, take_row, data))
    ;
  return at;
}

/* ---- writing ---- */

struct _SweepJournal
{
  char *path;
  int file;
  GString *pending;
};

static gboolean
fail (const char *path, const char *what, GError **error)
{
  const int code = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s %s: %s", what, path,
               code == EWOULDBLOCK ? "another sweep is writing it" : g_strerror (code));
  return FALSE;
}

static gboolean
prepare (SweepJournal *journal, gsize length, const SweepIdentity *identity, GError **error)
{
  g_autofree char *line = sweep_identity_write (identity);

  if (journal->file < 0)
    return fail (journal->path, "cannot open", error);
  if (flock (journal->file, LOCK_EX | LOCK_NB) != 0)
    return fail (journal->path, "cannot have", error);
  if (ftruncate (journal->file, (off_t)length) != 0
      || lseek (journal->file, (off_t)length, SEEK_SET) < 0)
    return fail (journal->path, "cannot write", error);
  if (length == 0)
    g_string_append_printf (journal->pending, "%s\n", line);
  return sweep_journal_flush (journal, error);
}

SweepJournal *
sweep_journal_open (const char *path, gsize length, const SweepIdentity *identity, GError **error)
{
  g_autoptr (SweepJournal) journal = g_new0 (SweepJournal, 1);

  journal->path = g_strdup (path);
  journal->pending = g_string_new (NULL);
  journal->file = g_open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  return prepare (journal, length, identity, error) ? g_steal_pointer (&journal) : NULL;
}

void
sweep_journal_free (SweepJournal *journal)
{
  if (journal == NULL)
    return;
  if (journal->file >= 0)
    close (journal->file);
  g_string_free (journal->pending, TRUE);
  g_free (journal->path);
  g_free (journal);
}

void
sweep_journal_add (SweepJournal *journal, gsize row, const char *text, RunStatus status)
{
  const gsize length = strlen (text);

  g_string_append_printf (journal->pending, "%zu %d %zu %016" G_GINT64_MODIFIER "x\n%s\n", row,
                          (int)status, length, checksum (text, length), text);
}

gboolean
sweep_journal_flush (SweepJournal *journal, GError **error)
{
  gsize done = 0;

  while (done < journal->pending->len)
    {
      const ssize_t n
          = write (journal->file, journal->pending->str + done, journal->pending->len - done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return fail (journal->path, "cannot write", error);
      done += (gsize)n;
    }
  g_string_truncate (journal->pending, 0);
  return TRUE;
}
