#include <config.h>

#include "cli/import.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "config/text_file.h"

#define HEAD_BYTES (64 * 1024)

/* The last one takes what is left. */
static const ImportKind *const kinds[] = { &import_trace_kind, &import_model_kind };

/* Of a file its first bytes: a trace may be hundreds of megabytes. */
static char *
read_head (const char *path, gsize *length, GError **error)
{
  FILE *stream = fopen (path, "rbe");
  g_autofree char *head = g_malloc0 (HEAD_BYTES + 1);
  int code = errno;

  if (stream != NULL)
    {
      *length = fread (head, 1, HEAD_BYTES, stream);
      code = ferror (stream) ? errno : 0;
      fclose (stream);
      if (code == 0)
        return g_steal_pointer (&head);
    }
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "cannot read '%s': %s", path,
               g_strerror (code));
  return NULL;
}

static char *
read_input (const char *path, gsize *length, GError **error)
{
  g_autoptr (GError) failure = NULL;
  char *text;

  if (strcmp (path, "-") != 0)
    return read_head (path, length, error);
  text = text_file_read (path, length, &failure);
  if (text == NULL)
    g_set_error (error, CLI_ERROR, EXIT_INPUT_OUTPUT, "cannot read standard input: %s",
                 failure->message);
  return text;
}

/* What means something to traces alone. */
static gboolean
is_of_one_file (const ImportKind *kind, const Options *options, GError **error)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  const char *option = options->base_scenario != NULL         ? "--scenario"
                       : options->fits_network                ? "--network"
                       : options->variant != NULL             ? "--variant"
                       : *options_overrides (options) != NULL ? "-s"
                                                              : NULL;

  if (option != NULL)
    g_set_error (error, CLI_ERROR, EXIT_USAGE, "%s is for profiler traces; %s is read as %s",
                 option, path, kind->what);
  else if (options->arguments->len > 1)
    g_set_error (error, CLI_ERROR, EXIT_USAGE, "one file at a time: %s is read as %s", path,
                 kind->what);
  else
    return TRUE;
  return FALSE;
}

static ExitCode
import (const Options *options, GError **error)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  ImportInput input = { .path = path };
  g_autofree char *head = read_input (path, &input.length, error);
  guint kind = 0;

  if (head == NULL)
    return EXIT_INPUT_OUTPUT;
  input.head = head;
  while (kind + 1 < G_N_ELEMENTS (kinds) && !kinds[kind]->recognises (&input))
    kind++;
  if (!kinds[kind]->takes_many && !is_of_one_file (kinds[kind], options, error))
    return EXIT_USAGE;
  return kinds[kind]->run (&input, options, error);
}

const Command import_command = {
  .name = "import",
  .arguments = "FILE...",
  .summary = "Turn a config.json into a model file, a profiler trace into measured times",
  .examples
  = "  fsdpsim import config.json\n"
    "  fsdpsim run llama2-7b-2xdgx-a100 -q -o out >run.txt; fsdpsim import out/trace-naive.json "
    "--scenario llama2-7b-2xdgx-a100 >measured.ini\n",
  .min_arguments = 1,
  .max_arguments = G_MAXUINT,
  .options = OPTION_FORMAT | OPTION_SET | OPTION_VARIANT | OPTION_MEASURED,
  .run = import,
};
