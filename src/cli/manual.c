#include <config.h>

#include "cli/manual.h"

#include <string.h>

#include "interop/finding.h"

/* Text for roff: backslashes, hyphens that must stay hyphens, and a line that
 * would begin with a control character. */
static void
append_escaped (GString *out, const char *text)
{
  if (*text == '.' || *text == '\'')
    g_string_append (out, "\\&");
  for (; *text != '\0'; text++)
    if (*text == '\\')
      g_string_append (out, "\\e");
    else if (*text == '-')
      g_string_append (out, "\\-");
    else
      g_string_append_c (out, *text);
}

static void
append_key (GString *out, const KeyInfo *key)
{
  g_string_append (out, ".TP\n\\fB");
  append_escaped (out, key->key);
  g_string_append (out, "\\fR = ");
  append_escaped (out, key->value);
  g_string_append_c (out, '\n');
  append_escaped (out, key->help);
  g_string_append_c (out, '\n');
  if (key->standard == NULL)
    g_string_append (out, "No default.\n");
  else if (*key->standard != '\0')
    {
      g_string_append (out, "Default: ");
      append_escaped (out, key->standard);
      g_string_append (out, ".\n");
    }
}

char *
manual_of_keys (const KeyInfo *keys, guint n)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      if (i == 0 || strcmp (keys[i].section, keys[i - 1].section) != 0)
        g_string_append_printf (out, ".SS [%s]\n", keys[i].section);
      append_key (out, &keys[i]);
    }
  return g_string_free (out, FALSE);
}

char *
manual_of_findings (void)
{
  GString *out = g_string_new (NULL);

  for (FindingCode code = 0; code < N_FINDING_CODES; code++)
    {
      const FindingInfo *info = finding_info (code);

      g_string_append (out, ".TP\n\\fB");
      append_escaped (out, info->code);
      g_string_append_printf (out, "\\fR (%s)\n", severity_word (info->severity));
      append_escaped (out, info->explanation);
      g_string_append_c (out, '\n');
    }
  return g_string_free (out, FALSE);
}
