/* What is wrong, or worth to know, in somebody's settings: a code, a place, what will
 * really happen, the lines that would be right, and the settings to compare by simulation. */
#pragma once

#include "interop/settings_tree.h"

typedef enum
{
  SEVERITY_ERROR,
  SEVERITY_WARNING,
  SEVERITY_NOTE /* counts for nothing in the exit status */
} Severity;

const char *severity_word (Severity severity);

typedef enum
{
#define FINDING(name, code, severity, explanation) name,
#include "interop/findings.def"
#undef FINDING
  N_FINDING_CODES
} FindingCode;

typedef struct
{
  const char *code; /* "naive-checkpointing" */
  Severity severity;
  const char *explanation;
} FindingInfo;

/* By FindingCode. */
const FindingInfo *finding_info (FindingCode code);

/* What the job would be with other settings. */
typedef struct
{
  char *label;          /* "activation_checkpointing" */
  GPtrArray *overrides; /* char *, "section.key=value" of a scenario, all of them */
} FindingChoice;

typedef struct
{
  FindingCode code;
  Severity severity; /* mostly that of the code */
  char *file;
  guint line, column; /* 0: the whole file */
  char *text;         /* the line, or NULL */
  char *message;      /* what will really happen, in sentences */
  char *fix;          /* lines to paste, or NULL */
  GArray *choices;    /* FindingChoice: to compare with the job as it is; may be empty */
} Finding;

typedef struct _Findings Findings;

Findings *findings_new (void);
void findings_free (Findings *findings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Findings, findings_free)

/* Valid until more are added. */
Finding *findings_add (Findings *findings, FindingCode code, const Place *place, const char *format,
                       ...) G_GNUC_PRINTF (4, 5);
/* Takes @overrides. */
void finding_add_choice (Finding *finding, const char *label, GPtrArray *overrides);
void finding_set_fix (Finding *finding, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* In the order of files and lines, once findings_sort() was called. */
guint findings_count (const Findings *findings);
const Finding *findings_get (const Findings *findings, guint index);
gboolean findings_have (const Findings *findings, FindingCode code);
void findings_sort (Findings *findings);
