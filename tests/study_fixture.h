/* Scenarios without a file: all that they say is in overrides. */
#pragma once

#include "config/scenario.h"

/* A NULL-terminated list of "section.key=value". Fails the test where they are no scenario; the
 * caller frees it. */
static inline ScenarioFile *
load_overrides (const char *const *overrides)
{
  const ScenarioOptions options = { .overrides = overrides };
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file = scenario_file_load ("/dev/null", &options, problems);

  if (file == NULL)
    {
      g_autofree char *text = problems_format (problems, "");
      g_autofree char *words = g_strjoinv (" ", (char **)overrides);

      fail_msg ("%s: %s", words, text);
    }
  return file;
}

/* Overrides as words apart by blanks. */
static inline ScenarioFile *
load_words (const char *words)
{
  g_autofree char *stripped = g_strstrip (g_strdup (words));
  g_auto (GStrv) overrides = g_strsplit (stripped, " ", -1);

  return load_overrides ((const char *const *)overrides);
}
