/* Any bytes as a Hugging Face config.json. What is read must be a model file that
 * loads, or one whose mistakes are told; what is not must say why. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#include "config/scenario.h"
#include "cost/params.h"
#include "interop/hf_config.h"

#define REST "\n[cluster]\nsource = dgx-a100-80g\n[training]\nseq_len = 1\n"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_model (const HfModel *model)
{
  g_autofree char *text = g_strconcat (model->text, REST, NULL);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file
      = scenario_file_load_text ("fuzz.ini", "fuzz.ini", text, strlen (text), NULL, problems);
  ParamCount count;

  g_assert ((file == NULL) == (problems_count (problems) > 0));
  if (file == NULL)
    return;
  count = params_count (&scenario_file_variant (file, 0)->model);
  g_assert (count.active <= count.total);
  g_assert (count.embedding + count.head + count.final_norm + count.outer <= count.total);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autofree char *text = g_malloc (size + 1);
  g_autofree char *messages = NULL;
  HfModel model;
  gboolean done;

  memcpy (text, data, size);
  text[size] = '\0';
  done = hf_config_read ("fuzz/config.json", text, size, &model, problems);
  messages = problems_format (problems, "");
  g_assert (done == (messages[0] == '\0'));
  g_assert (g_utf8_validate (messages, -1, NULL));
  if (!done)
    return 0;
  check_model (&model);
  hf_model_clear (&model);
  return 0;
}
