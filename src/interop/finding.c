#include <config.h>

#include "interop/finding.h"

#include <string.h>

struct _Findings
{
  GArray *list; /* Finding */
};

const char *
severity_word (Severity severity)
{
  static const char *const words[] = { "error", "warning", "note" };

  return words[severity];
}

const FindingInfo *
finding_info (FindingCode code)
{
  static const FindingInfo infos[N_FINDING_CODES] = {
#define FINDING(name, code, severity, explanation)                                                 \
  [name] = { code, SEVERITY_##severity, explanation },
#include "interop/findings.def"
#undef FINDING
  };

  g_assert (code < N_FINDING_CODES);
  return &infos[code];
}

static void
choice_clear (gpointer data)
{
  FindingChoice *choice = data;

  g_free (choice->label);
  g_ptr_array_unref (choice->overrides);
}

static void
finding_clear (gpointer data)
{
  Finding *finding = data;

  g_free (finding->file);
  g_free (finding->text);
  g_free (finding->message);
  g_free (finding->fix);
  g_array_unref (finding->choices);
}

Findings *
findings_new (void)
{
  Findings *findings = g_new (Findings, 1);

  findings->list = g_array_new (FALSE, FALSE, sizeof (Finding));
  g_array_set_clear_func (findings->list, finding_clear);
  return findings;
}

void
findings_free (Findings *findings)
{
  if (findings == NULL)
    return;
  g_array_unref (findings->list);
  g_free (findings);
}

Finding *
findings_add (Findings *findings, FindingCode code, const Place *place, const char *format, ...)
{
  Finding finding = { .code = code,
                      .severity = finding_info (code)->severity,
                      .file = g_strdup (place->file),
                      .line = place->line,
                      .column = place->column,
                      .text = g_strdup (place->text),
                      .choices = g_array_new (FALSE, FALSE, sizeof (FindingChoice)) };
  va_list arguments;

  va_start (arguments, format);
  finding.message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_array_set_clear_func (finding.choices, choice_clear);
  g_array_append_val (findings->list, finding);
  return &g_array_index (findings->list, Finding, findings->list->len - 1);
}

void
finding_add_choice (Finding *finding, const char *label, GPtrArray *overrides)
{
  FindingChoice choice = { g_strdup (label), overrides };

  g_array_append_val (finding->choices, choice);
}

void
finding_set_fix (Finding *finding, const char *format, ...)
{
  va_list arguments;

  g_free (finding->fix);
  va_start (arguments, format);
  finding->fix = g_strdup_vprintf (format, arguments);
  va_end (arguments);
}

guint
findings_count (const Findings *findings)
{
  return findings->list->len;
}

const Finding *
findings_get (const Findings *findings, guint index)
{
  return &g_array_index (findings->list, Finding, index);
}

gboolean
findings_have (const Findings *findings, FindingCode code)
{
  for (guint i = 0; i < findings->list->len; i++)
    if (findings_get (findings, i)->code == code)
      return TRUE;
  return FALSE;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const Finding *first = a, *second = b;
  const gint by_file = strcmp (first->file, second->file);

  if (by_file != 0)
    return by_file;
  if (first->line != second->line)
    return first->line < second->line ? -1 : 1;
  return (gint)first->code - (gint)second->code;
}

void
findings_sort (Findings *findings)
{
  g_array_sort (findings->list, compare);
}
