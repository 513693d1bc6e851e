/* Files that appear whole or not at all. */
#pragma once

#include <glib.h>

/* With its parents, where it is not there. G_FILE_ERROR. */
gboolean files_make_folder (const char *folder, GError **error);
/* A new file takes the place of the old one by rename. G_FILE_ERROR. */
gboolean files_write (const char *folder, const char *name, const char *text, GError **error);
/* What an earlier run left under the name; it may not be there. G_FILE_ERROR. */
gboolean files_remove (const char *folder, const char *name, GError **error);
/* files_write(), or files_remove() where @text is NULL. */
gboolean files_replace (const char *folder, const char *name, const char *text, GError **error);
