#include <config.h>

#include <string.h>

#include "report/names.h"

#define FILE_NAME_LENGTH 100

static gboolean
is_taken (const GPtrArray *names, const char *name)
{
  for (guint i = 0; i < names->len; i++)
    if (strcmp (g_ptr_array_index (names, i), name) == 0)
      return TRUE;
  return FALSE;
}

/* Takes @name, and adds it with the first of "", "-2", "-3", … that makes it new. */
static void
add_unique (GPtrArray *names, char *name)
{
  for (guint n = 2; is_taken (names, name); n++)
    {
      g_autofree char *numbered = g_strdup_printf ("%s-%u", name, n);

      if (is_taken (names, numbered))
        continue;
      g_free (name);
      name = g_steal_pointer (&numbered);
    }
  g_ptr_array_add (names, name);
}

static char **
finish (GPtrArray *names)
{
  g_ptr_array_add (names, NULL);
  return (char **)g_ptr_array_free (names, FALSE);
}

/* The same name in another scenario. */
static gboolean
is_ambiguous (const Report *report, guint index)
{
  const ReportEntry *entry = &report->entries[index];

  for (guint i = 0; i < report->n_entries; i++)
    if (report->entries[i].scenario != entry->scenario
        && strcmp (report->entries[i].run.scenario->variant, entry->run.scenario->variant) == 0)
      return TRUE;
  return FALSE;
}

char **
variant_names (const Report *report)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < report->n_entries; i++)
    {
      const ReportEntry *entry = &report->entries[i];
      const char *variant = entry->run.scenario->variant;

      if (is_ambiguous (report, i))
        add_unique (names, g_strconcat (entry->scenario->scenario_name, ":", variant, NULL));
      else
        add_unique (names, g_strdup (variant));
    }
  return finish (names);
}

char **
file_names (const char *const *names)
{
  GPtrArray *files = g_ptr_array_new ();

  for (; *names != NULL; names++)
    {
      char *file = g_strndup (*names, FILE_NAME_LENGTH - 8);

      g_strcanon (file, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS ".-_", '_');
      add_unique (files, file);
    }
  return finish (files);
}
