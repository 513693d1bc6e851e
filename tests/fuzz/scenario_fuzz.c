/* Any bytes as a scenario, as a model, GPU and cluster file, and as -s options. What
 * loads must show as a scenario that means the same; what does not must say why. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#include "config/scenario_file.h"
#include "config/sources.h"

#define MOST_OPTIONS 8

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Nothing lies in this folder, so that inputs reach no files but the shipped ones. */
static const char path[] = "/nowhere/fuzz.ini";

static ScenarioFile *
load (const char *text, gsize length, const char *const *overrides)
{
  const ScenarioOptions options = { .overrides = overrides };
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file = scenario_file_load_text ("fuzz.ini", path, text, length, &options, problems);
  g_autofree char *messages = problems_format (problems, "");

  g_assert ((file == NULL) == (problems_count (problems) > 0));
  g_assert ((file == NULL) == (messages[0] != '\0'));
  g_assert (g_utf8_validate (messages, -1, NULL));
  return file;
}

static void
check_show (const ScenarioFile *file)
{
  g_autofree char *shown = scenario_file_show (file);
  g_autoptr (ScenarioFile) again = load (shown, strlen (shown), NULL);

  g_assert (again != NULL);
  g_assert (strcmp (scenario_file_sha256 (again), scenario_file_sha256 (file)) == 0);
  g_assert (scenario_file_n_variants (again) == scenario_file_n_variants (file));
}

static void
read_as_sources (const char *text, gsize length)
{
  static const char *const sections[] = { "model", "gpu", "cluster" };

  for (guint i = 0; i < G_N_ELEMENTS (sections); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autoptr (Sources) sources = sources_new (path, NULL);

      g_assert (sources_load_text (sources, sections[i], path, text, length, problems) != NULL);
    }
}

/* The first lines, over a scenario that is right. */
static void
read_as_options (const char *text)
{
  static const char scenario[]
      = "[model]\nsource = llama2-7b\n[cluster]\nsource = dgx-a100-80g\n[variant a]\n";
  g_auto (GStrv) lines = g_strsplit (text, "\n", MOST_OPTIONS);
  g_autoptr (ScenarioFile) file = load (scenario, strlen (scenario), (const char *const *)lines);

  if (file != NULL)
    check_show (file);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_malloc (size + 1);
  g_autoptr (ScenarioFile) file = NULL;

  /* With a NUL behind, as files are read. */
  memcpy (text, data, size);
  text[size] = '\0';
  file = load (text, size, NULL);
  if (file != NULL)
    check_show (file);
  read_as_sources (text, size);
  read_as_options (text);
  return 0;
}
