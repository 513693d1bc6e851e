/* The kinds of files that `fsdpsim import` takes, told apart by their beginning. */
#pragma once

#include "cli/exit_codes.h"
#include "cli/options.h"

/* What is looked at to tell. Of standard input, which cannot be read twice, all. */
typedef struct
{
  const char *path; /* "-": standard input */
  const char *head; /* its first bytes, and a NUL */
  gsize length;
} ImportInput;

typedef struct
{
  const char *what;    /* "a Hugging Face config.json" */
  gboolean takes_many; /* files, and the options that start from a scenario */
  gboolean (*recognises) (const ImportInput *input);
  ExitCode (*run) (const ImportInput *input, const Options *options, GError **error);
} ImportKind;

extern const ImportKind import_trace_kind;
extern const ImportKind import_model_kind; /* whatever no other kind recognises */
