/* Any bytes as a table of published runs: what can be mapped makes a scenario that
 * loads or is refused with a reason. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#include "study/published_scenario.h"
#include "config/scenario.h"

#define MOST_RUNS 20

static void
load (const char *text)
{
  const ScenarioOptions options = { 0 };
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file
      = scenario_file_load_text ("run", "run", text, strlen (text), &options, problems);

  g_assert ((file == NULL) == (problems_count (problems) > 0));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (PublishedTable) table
      = published_read ("runs.csv", (const char *)data, size, problems);

  for (guint i = 0; table != NULL && i < MIN (published_n_runs (table), MOST_RUNS); i++)
    {
      const PublishedRun *run = published_run (table, i);
      g_autoptr (GError) error = NULL;
      g_autofree char *text = NULL;

      if (run->unreadable == NULL)
        text = published_scenario (&run->settings, &error);
      if (text != NULL)
        load (text);
    }
  return 0;
}
