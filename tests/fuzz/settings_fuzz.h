/* Any bytes as settings of another program, in one syntax. What is read must be judged with
 * findings that stand in the file; what is not must say why. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "interop/check.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static inline void
fuzz_judge (const SettingsTree *tree, const CheckContext *context)
{
  g_autoptr (Problems) problems = problems_new ();
  Check check;

  if (!check_settings (tree, context, &check, problems))
    {
      g_assert (problems_count (problems) > 0);
      return;
    }
  for (guint i = 0; i < findings_count (check.findings); i++)
    {
      const Finding *finding = findings_get (check.findings, i);

      g_assert (strcmp (finding->file, settings_name (tree)) == 0);
      g_assert (g_utf8_validate (finding->message, -1, NULL));
      g_assert (finding->fix == NULL || g_utf8_validate (finding->fix, -1, NULL));
    }
  check_clear (&check);
}

/* As a file of its own, and as the Trainer's arguments beside itself. */
static inline int
fuzz_settings (const char *name, const uint8_t *data, size_t size)
{
  g_autofree char *text = g_malloc (size + 1);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (SettingsTree) tree = NULL;
  g_autofree char *messages = NULL;
  CheckContext context = { .versions = { RELEASE (2, 8), RELEASE (4, 55), RELEASE (1, 10) } };

  memcpy (text, data, size);
  text[size] = '\0';
  tree = settings_read (name, text, size, problems);
  messages = problems_format (problems, "");
  g_assert ((tree == NULL) == (messages[0] != '\0'));
  g_assert (g_utf8_validate (messages, -1, NULL));
  if (tree == NULL)
    return 0;
  fuzz_judge (tree, &context);
  context.versions = (Versions){ RELEASE (2, 1), RELEASE (4, 39), RELEASE (0, 25) };
  context.trainer = tree;
  context.model_type = "llama";
  fuzz_judge (tree, &context);
  return 0;
}
