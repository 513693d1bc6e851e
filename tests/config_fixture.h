/* Scenarios held in memory, for tests of reading them; they lie beside the files
 * of tests/data, whose names are all the paths they need. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "config/scenario_file.h"

/* Lines 1 to 4 of most scenarios here. */
#define TINY "[model]\nsource = tiny_model.ini\n[cluster]\nsource = tiny_cluster.ini\n"

/* Group setup: into tests/data. */
static inline int
fixture_enter_data (void **state)
{
  const char *source_folder = g_getenv ("srcdir");
  g_autofree char *folder
      = g_build_filename (source_folder != NULL ? source_folder : ".", "tests", "data", NULL);

  (void)state;
  return g_chdir (folder);
}

static inline ScenarioFile *
fixture_try_with (const char *text, const ScenarioOptions *options, Problems *problems)
{
  return scenario_file_load_text ("s.ini", "s.ini", text, strlen (text), options, problems);
}

/* @overrides: of -s, or NULL. */
static inline ScenarioFile *
fixture_try (const char *text, const char *const *overrides, Problems *problems)
{
  ScenarioOptions options = { .overrides = overrides };

  return fixture_try_with (text, &options, problems);
}

/* Fails where anything is wrong. */
static inline ScenarioFile *
fixture_load (const char *text, const char *const *overrides)
{
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file = fixture_try (text, overrides, problems);

  if (file == NULL)
    {
      g_autofree char *messages = problems_format (problems, "");

      print_error ("%s\n%s", text, messages);
    }
  assert_non_null (file);
  assert_int_equal (problems_count (problems), 0);
  return file;
}

/* What is wrong with it; fails where nothing is. */
static inline char *
fixture_mistakes (const char *text, const char *const *overrides)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = fixture_try (text, overrides, problems);

  if (file != NULL)
    print_error ("nothing is wrong with\n%s", text);
  assert_null (file);
  assert_true (problems_count (problems) > 0);
  return problems_format (problems, "");
}
