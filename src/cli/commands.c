#include <config.h>

#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "config/suggest.h"

static const Command *const commands[] = {
  &compare_command,   &run_command,   &sweep_command,  &plan_command,  &plot_command,
  &report_command,    &net_command,   &show_command,   &list_command,  &validate_command,
  &calibrate_command, &check_command, &import_command, &trace_command,
};

/* ---- help ---- */

/* Beside the other lines of the help, so many fit a terminal. */
#define MOST_OPTION_LINES 15

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (; *text != '\0'; text++)
    n += *text == '\n';
  return n;
}

/* Where there are many, those of every command take one line. */
static char *
list_options (const Command *command)
{
  g_autofree char *list = options_list (command->options | OPTION_EVERYWHERE);
  g_autofree char *own = options_list (command->options);

  if (count_lines (list) <= MOST_OPTION_LINES)
    return g_steal_pointer (&list);
  return g_strconcat (
      own, "  -q, -v, -h, --version           Quiet, verbose, this help, the version\n", NULL);
}

static char *
command_help (const Command *command)
{
  g_autofree char *list = list_options (command);

  return g_strdup_printf ("Usage: fsdpsim %s [OPTION...] %s\n\n%s.\n\nOptions:\n%s\nExamples:\n%s",
                          command->name, command->arguments, command->summary, list,
                          command->examples);
}

static char *
short_usage (void)
{
  GString *text = g_string_new ("Usage: fsdpsim COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n");

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    g_string_append_printf (text, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
  g_string_append (text, "\n'fsdpsim COMMAND --help' says what a command takes.\n");
  return g_string_free (text, FALSE);
}

#define PROGRAM_OPTIONS                                                                            \
  "\nOptions:\n"                                                                                   \
  "  --help      Print this and exit\n"                                                            \
  "  --help-all  Print the options of every command and exit\n"                                    \
  "  --version   Print the version and exit\n"

static char *
program_help (void)
{
  g_autofree char *usage = short_usage ();

  return g_strconcat (usage,
                      PROGRAM_OPTIONS "\nExamples:\n"
                                      "  fsdpsim list scenarios\n"
                                      "  fsdpsim compare llama2-7b-2xdgx-a100\n",
                      NULL);
}

/* Of every command what it does not share with all others; the manual is made of this. */
static char *
all_help (void)
{
  g_autofree char *usage = short_usage ();
  g_autofree char *shared = options_list (OPTION_EVERYWHERE);
  GString *text = g_string_new (usage);

  g_string_append_printf (text, "%s\nOptions of every command:\n%s", PROGRAM_OPTIONS, shared);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *list = options_list (commands[i]->options);

      if (*list != '\0')
        g_string_append_printf (text, "\nOptions of 'fsdpsim %s %s':\n%s", commands[i]->name,
                                commands[i]->arguments, list);
    }
  return g_string_free (text, FALSE);
}

/* ---- finding the command ---- */

static const Command *
find_command (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i]->name, name) == 0)
      return commands[i];
  return NULL;
}

static void
refuse_command (const char *name, GError **error)
{
  const char *names[G_N_ELEMENTS (commands) + 1] = { 0 };
  g_autofree char *clause = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    names[i] = commands[i]->name;
  clause = suggest_clause (name, names);
  if (*name == '-')
    g_set_error (error, CLI_ERROR, EXIT_USAGE,
                 "%s: a command comes first, its options after it; see 'fsdpsim --help'", name);
  else
    g_set_error (error, CLI_ERROR, EXIT_USAGE, "unknown command '%s'%s", name, clause);
}

/* ---- running it ---- */

static gboolean
check_arguments (const Command *command, const Options *options, GError **error)
{
  const guint n = options->arguments->len;

  if (n >= command->min_arguments && n <= command->max_arguments)
    return TRUE;
  g_set_error (error, CLI_ERROR, EXIT_USAGE,
               "%s: got %u argument%s; usage: fsdpsim %s [OPTION...] %s", command->name, n,
               n == 1 ? "" : "s", command->name, command->arguments);
  return FALSE;
}

static ExitCode
run_command_with (const Command *command, const Options *options, GError **error)
{
  const gint64 begin_us = g_get_monotonic_time ();
  g_autofree char *help = NULL;
  ExitCode code;

  if (options->help)
    {
      help = command_help (command);
      output_write (help, error);
      return EXIT_DONE;
    }
  if (options->version)
    {
      output_write (PACKAGE_STRING "\n", error);
      return EXIT_DONE;
    }
  if (!check_arguments (command, options, error))
    return EXIT_USAGE;
  code = command->run (options, error);
  if (options->verbose)
    output_message ("%s took %.1f ms", command->name,
                    (double)(g_get_monotonic_time () - begin_us) / 1000);
  return code;
}

static ExitCode
run_named (const Command *command, int argc, char **argv, GError **error)
{
  Options options;
  ExitCode code = EXIT_USAGE;

  options_init (&options);
  if (options_parse (&options, command->options | OPTION_EVERYWHERE, argc, argv, error))
    code = run_command_with (command, &options, error);
  else
    g_prefix_error (error, "%s: ", command->name);
  options_clear (&options);
  return code;
}

/* Options that stand alone, without a command; NULL where @option is none. */
static char *
answer_option (const char *option)
{
  if (strcmp (option, "--help") == 0 || strcmp (option, "-h") == 0)
    return program_help ();
  if (strcmp (option, "--help-all") == 0)
    return all_help ();
  if (strcmp (option, "--version") == 0)
    return g_strdup (PACKAGE_STRING "\n");
  return NULL;
}

static ExitCode
dispatch (int argc, char **argv, GError **error)
{
  g_autofree char *answer = answer_option (argv[1]);
  const Command *command = find_command (argv[1]);

  if (answer != NULL)
    output_write (answer, error);
  else if (command != NULL)
    return run_named (command, argc - 1, argv + 1, error);
  else
    refuse_command (argv[1], error);
  return EXIT_DONE;
}

static void
print_error (const GError *error)
{
  if (g_str_has_suffix (error->message, "\n"))
    fputs (error->message, stderr);
  else
    output_message ("%s", error->message);
}

ExitCode
commands_run (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *usage = NULL;
  ExitCode code;

  if (argc < 2)
    {
      usage = short_usage ();
      fputs (usage, stderr);
      return EXIT_USAGE;
    }
  code = dispatch (argc, argv, &error);
  if (error == NULL)
    return code;
  print_error (error);
  return exit_code_of_error (error);
}
