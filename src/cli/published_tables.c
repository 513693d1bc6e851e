#include <config.h>

#include "cli/published_tables.h"

#include <string.h>

#include "cli/scenarios.h"
#include "cli/exit_codes.h"
#include "config/data.h"
#include "config/text_file.h"

static PublishedTable *
load (const char *path, Problems *problems)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gsize length;

  text = text_file_read (path, &length, &error);
  if (text != NULL)
    return published_read (path, text, length, problems);
  problems_add_io (problems, path, "cannot read: %s", error->message);
  return NULL;
}

static PublishedTable *
load_shipped (Problems *problems)
{
  g_auto (GStrv) names = data_list (DATA_PUBLISHED);
  g_autoptr (PublishedTable) all = NULL;

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *path = data_find (DATA_PUBLISHED, names[i]);
      PublishedTable *table = load (path, problems);

      if (table != NULL && all != NULL)
        published_append (all, table);
      else if (table != NULL)
        all = table;
    }
  return g_steal_pointer (&all);
}

PublishedTable *
published_tables_load (const char *path, const char *quality, GError **error)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (PublishedTable) table = path != NULL ? load (path, problems) : load_shipped (problems);

  if (!scenarios_are_right (problems, error))
    return NULL;
  if (table == NULL)
    {
      g_set_error (error, CLI_ERROR, EXIT_INPUT_OUTPUT,
                   "no tables of published runs ship with this installation; give a CSV file");
      return NULL;
    }
  if (quality != NULL)
    published_select (table, quality);
  return g_steal_pointer (&table);
}
