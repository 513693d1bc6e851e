#include <config.h>

#include "report/files.h"

#include <errno.h>

#include <glib/gstdio.h>

gboolean
files_make_folder (const char *folder, GError **error)
{
  int saved_errno;

  if (g_mkdir_with_parents (folder, 0777) == 0)
    return TRUE;
  saved_errno = errno;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (saved_errno),
               "cannot make the folder %s: %s", folder, g_strerror (saved_errno));
  return FALSE;
}

gboolean
files_write (const char *folder, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  if (g_file_set_contents_full (path, text, -1,
                                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_ONLY_EXISTING,
                                0666, error))
    return TRUE;
  g_prefix_error (error, "cannot write %s: ", path);
  return FALSE;
}

gboolean
files_remove (const char *folder, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  int saved_errno;

  if (g_unlink (path) == 0 || errno == ENOENT)
    return TRUE;
  saved_errno = errno;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (saved_errno), "cannot remove %s: %s",
               path, g_strerror (saved_errno));
  return FALSE;
}

gboolean
files_replace (const char *folder, const char *name, const char *text, GError **error)
{
  return text != NULL ? files_write (folder, name, text, error)
                      : files_remove (folder, name, error);
}
