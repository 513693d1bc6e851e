#include <config.h>

#include "cli/options.h"

#include <string.h>

#include "cli/options_check.h"
#include "cli/options_network.h"
#include "cli/options_sweep.h"
#include "config/choices.h"
#include "config/keys_unknown.h"
#include "config/suggest.h"

#define MAX_JOBS  1024
#define MAX_FOLDS 1000
#define FOLDS     5
#define MAX_RANK  9999999

static gboolean
refuse (GError **error, const char *option, const char *value, const char *wanted)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s %s: takes %s", option, value,
               wanted);
  return FALSE;
}

/* ---- one function an option: GOptionArgFunc, whose data is the Options ---- */

static gboolean
take_override (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  const char *equals = strchr (value, '=');
  const char *dot = strchr (value, '.');

  if (equals == NULL)
    return refuse (error, option, value, "SECTION.KEY=VALUE");
  if (dot == NULL || dot > equals)
    {
      g_autofree char *name = g_strndup (value, (gsize)(equals - value));
      g_autofree char *message = unknown_dotted_message (name);

      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s %s: %s", option, value,
                   message);
      return FALSE;
    }
  g_ptr_array_add (options->overrides, g_strdup (value));
  return TRUE;
}

static gboolean
take_seed (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (!g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &options->seed, NULL))
    return refuse (error, option, value, "a whole number from 0");
  g_ptr_array_add (options->overrides, g_strconcat ("simulation.seed=", value, NULL));
  return TRUE;
}

static gboolean
take_folder (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (*value == '\0')
    return refuse (error, option, "''", "the name of a folder");
  g_free (options->folder);
  options->folder = g_strdup (value);
  return TRUE;
}

static gboolean
take_format (const char *option, const char *value, gpointer data, GError **error)
{
  static const char *const words[] = { "table", "csv", "json", "man", NULL };
  Options *options = data;

  for (guint i = 0; words[i] != NULL; i++)
    if (strcmp (value, words[i]) == 0)
      {
        options->format = (Format)i;
        return TRUE;
      }
  return refuse (error, option, value, "table, csv or json");
}

static gboolean
take_jobs (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  guint64 n_jobs;

  if (!g_ascii_string_to_unsigned (value, 10, 1, MAX_JOBS, &n_jobs, NULL))
    return refuse (error, option, value, "a whole number from 1 to 1024");
  options->n_jobs = (guint)n_jobs;
  return TRUE;
}

/* "7" or "8-15". */
static gboolean
add_ranks (GArray *ranks, const char *text)
{
  g_auto (GStrv) ends = g_strsplit (text, "-", 2);
  guint64 first, last;

  if (ends[0] == NULL || !g_ascii_string_to_unsigned (ends[0], 10, 0, MAX_RANK, &first, NULL))
    return FALSE;
  last = first;
  if (ends[1] != NULL && !g_ascii_string_to_unsigned (ends[1], 10, first, MAX_RANK, &last, NULL))
    return FALSE;
  for (guint rank = (guint)first; rank <= last; rank++)
    g_array_append_val (ranks, rank);
  return TRUE;
}

static gboolean
take_ranks (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  g_auto (GStrv) parts = g_strsplit (value, ",", -1);

  options->all_ranks = strcmp (value, "all") == 0;
  g_array_set_size (options->ranks, 0);
  if (options->all_ranks)
    return TRUE;
  for (guint i = 0; parts[i] != NULL; i++)
    if (!add_ranks (options->ranks, parts[i]))
      return refuse (error, option, value, "ranks such as 0,3,8-15, or all");
  return *value != '\0' || refuse (error, option, "''", "ranks such as 0,3,8-15, or all");
}

static gboolean
take_variant (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (*value == '\0')
    return refuse (error, option, "''", "the name of a variant");
  g_free (options->variant);
  options->variant = g_strdup (value);
  return TRUE;
}

static gboolean
take_terminal (const char *option, const char *value, gpointer data, GError **error)
{
  static const char *const words[] = { "svg", "png", "pdf", NULL };
  Options *options = data;

  if (!g_strv_contains (words, value))
    return refuse (error, option, value, "svg, png or pdf");
  g_free (options->terminal);
  options->terminal = g_strdup (value);
  return TRUE;
}

/* Options that only their command understands; given again, --require adds to itself. */
static gboolean
take_text (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  char **place = strcmp (option, "--quality") == 0   ? &options->quality
                 : strcmp (option, "--require") == 0 ? &options->require
                                                     : &options->run_id;
  char *before = *place;

  if (*value == '\0')
    return refuse (error, option, "''", "a value");
  *place = place == &options->require && before != NULL ? g_strconcat (before, ",", value, NULL)
                                                        : g_strdup (value);
  g_free (before);
  return TRUE;
}

static gboolean
take_base_scenario (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (*value == '\0')
    return refuse (error, option, "''", "a scenario file or a shipped name");
  g_free (options->base_scenario);
  options->base_scenario = g_strdup (value);
  return TRUE;
}

static gboolean
take_network (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  options->fits_network = strcmp (value, "fitted") == 0;
  if (options->fits_network || strcmp (value, "fixed") == 0)
    return TRUE;
  return refuse (error, option, value, "fixed or fitted");
}

static gboolean
take_folds (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  guint64 n_folds = 0;

  if (strcmp (value, "source") != 0
      && !g_ascii_string_to_unsigned (value, 10, 2, MAX_FOLDS, &n_folds, NULL))
    return refuse (error, option, value, "a whole number from 2 to 1000, or source");
  options->n_folds = (guint)n_folds;
  return TRUE;
}

static gboolean
take_switch (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  (void)value;
  (void)error;
  if (strcmp (option, "-q") == 0 || strcmp (option, "--quiet") == 0)
    options->quiet = TRUE;
  else if (strcmp (option, "-v") == 0 || strcmp (option, "--verbose") == 0)
    options->verbose = TRUE;
  else if (strcmp (option, "--help") == 0 || strcmp (option, "-h") == 0)
    options->help = TRUE;
  else
    options->version = TRUE;
  return TRUE;
}

static gboolean
take_argument (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  (void)option;
  (void)error;
  g_ptr_array_add (options->arguments, g_strdup (value));
  return TRUE;
}

/* ---- the one table ---- */

typedef struct
{
  OptionSet option;
  GOptionEntry entry;
} OptionRow;

/* Values are taken as bytes (FILENAME), not in the locale's character set. */
#define VALUE  G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK
#define SWITCH G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK

/* clang-format off */
static const OptionRow option_rows[] = {
  { OPTION_SET, { "set", 's', VALUE, (gpointer) take_override,
                  "Override a key of the scenario (repeatable)", "SECTION.KEY=VALUE" } },
  { OPTION_OUTPUT, { "output", 'o', VALUE, (gpointer) take_folder,
                     "Write the result files into DIR", "DIR" } },
  { OPTION_FORMAT, { "format", 'f', VALUE, (gpointer) take_format,
                     "Standard output as table, csv or json", "FORMAT" } },
  { OPTION_JOBS, { "jobs", 'j', VALUE, (gpointer) take_jobs,
                   "Simulate N variants at a time", "N" } },
  { OPTION_SEED, { "seed", 0, VALUE, (gpointer) take_seed,
                   "The same as -s simulation.seed=N", "N" } },
  { OPTION_RANKS, { "ranks", 0, VALUE, (gpointer) take_ranks,
                    "Ranks in the files, besides the slowest", "LIST|all" } },
  { OPTION_VARIANT, { "variant", 0, VALUE, (gpointer) take_variant,
                      "Run this variant, not the first", "NAME" } },
  { OPTION_TERMINAL, { "terminal", 0, VALUE, (gpointer) take_terminal,
                       "Draw svg (default), png or pdf", "FORMAT" } },
  { OPTION_QUALITY, { "quality", 0, VALUE, (gpointer) take_text,
                      "Only runs of these qualities, such as AB", "LETTERS" } },
  { OPTION_REQUIRE, { "require", 0, VALUE, (gpointer) take_text,
                      "Exit with 1 where a bound is missed: mean=2.7%,memory.p90=12%", "BOUNDS" } },
  { OPTION_RUN_ID, { "scenario", 0, VALUE, (gpointer) take_text,
                     "Print the scenario of a run instead", "ID" } },
  { OPTION_MEASURED, { "scenario", 0, VALUE, (gpointer) take_base_scenario,
                       "This scenario with what the trace measured", "SCENARIO" } },
  { OPTION_MEASURED, { "network", 0, VALUE, (gpointer) take_network,
                       "Collectives fixed as measured, or the cluster fitted", "fixed|fitted" } },
  { OPTION_FOLDS, { "folds", 0, VALUE, (gpointer) take_folds,
                    "Hold back one of N parts (5), or a source, at a time", "N|source" } },
  { OPTION_NETWORK, { "collective", 0, VALUE, (gpointer) options_take_collectives,
                      "Only these collectives (default: all)", "NAME[,NAME...]" } },
  { OPTION_NETWORK, { "ranks", 0, VALUE, (gpointer) options_take_group_sizes,
                      "Ranks, or sizes of several groups (default: all)", "N[,N...]|all" } },
  { OPTION_NETWORK, { "bytes", 0, VALUE, (gpointer) options_take_sizes,
                      "As in nccl-tests: 8,1M,2G, or 8-8G (default)", "SIZES" } },
  { OPTION_NETWORK, { "in-place", 0, SWITCH, (gpointer) options_take_in_place,
                      "Output and input share memory", NULL } },
  { OPTION_NETWORK, { "calibrate", 0, VALUE, (gpointer) options_take_calibrate,
                      "Fit a cluster file to output of nccl-tests", "FILE" } },
  { OPTION_NETWORK, { "against", 0, VALUE, (gpointer) options_take_against,
                      "Errors against a CSV file of measurements", "FILE" } },
  { OPTION_VARY, { "vary", 0, VALUE, (gpointer) options_take_vary,
                   "Vary a key: 1,2,4 or 1..64*2 or 1..8 (repeatable)", "SECTION.KEY=LIST" } },
  { OPTION_SWEEP, { "points", 0, VALUE, (gpointer) options_take_points,
                   "Vary the keys of a CSV file together, a row a cell", "FILE" } },
  { OPTION_SWEEP, { "shard", 0, VALUE, (gpointer) options_take_shard,
                   "Run the I-th of N parts of the sweep", "I/N" } },
  { OPTION_SWEEP, { "merge", 0, SWITCH, (gpointer) options_take_merge,
                   "Put the shards in folders DIR... together", NULL } },
  { OPTION_BUDGET, { "tokens", 0, VALUE, (gpointer) options_take_tokens,
                     "Days and GPU hours of training on so many, such as 2T", "N" } },
  { OPTION_BUDGET, { "price", 0, VALUE, (gpointer) options_take_price,
                     "Cost too, at this price of a GPU hour", "PRICE" } },
  { OPTION_BREAK_EVEN, { "break-even", 0, SWITCH, (gpointer) options_take_break_even,
                         "At which bandwidth and on how many nodes the first is caught up", NULL } },
  { OPTION_REPEAT, { "repeat", 0, VALUE, (gpointer) options_take_repeat,
                     "What jitter costs: mean, p50 and p99 over N seeds", "N" } },
  { OPTION_PLAN, { "gpus", 0, VALUE, (gpointer) options_take_gpus,
                   "Up to so many (default: the scenario's own number)", "N" } },
  { OPTION_PLAN, { "deadline", 0, VALUE, (gpointer) options_take_deadline,
                   "Trained in this time, such as 30d; then the cheapest is best", "TIME" } },
  { OPTION_PLAN, { "budget", 0, VALUE, (gpointer) options_take_budget,
                   "Trained for at most this cost", "COST" } },
  { OPTION_PLAN, { "global-batch", 0, VALUE, (gpointer) options_take_global_batch,
                   "Sequences of a step, which grad_accum then holds", "N" } },
  { OPTION_PLAN, { "headroom", 0, VALUE, (gpointer) options_take_headroom,
                   "Share of the memory to stay free (default: 5%)", "PERCENT" } },
  { OPTION_PLAN, { "find", 0, VALUE, (gpointer) options_take_find,
                   "The largest micro_batch or seq_len, or fewest nodes", "WHAT" } },
  { OPTION_CHECK, { "trainer", 0, VALUE, (gpointer) options_take_source,
                    "The Trainer's arguments or fsdp_config, laid over the file", "FILE" } },
  { OPTION_CHECK, { "model", 0, VALUE, (gpointer) options_take_source,
                    "The model: a config.json, a model file or a shipped name", "MODEL" } },
  { OPTION_CHECK, { "cluster", 0, VALUE, (gpointer) options_take_source,
                    "The machines that costs are of: a cluster file or name", "CLUSTER" } },
  { OPTION_CHECK, { "nodes", 0, VALUE, (gpointer) options_take_nodes,
                    "So many nodes of it (default: as the file says)", "N" } },
  { OPTION_CHECK, { "torch", 0, VALUE, (gpointer) options_take_version,
                    "Version of torch (default: 2.8)", "VERSION" } },
  { OPTION_CHECK, { "transformers", 0, VALUE, (gpointer) options_take_version,
                    "Version of transformers (default: 4.55)", "VERSION" } },
  { OPTION_CHECK, { "accelerate", 0, VALUE, (gpointer) options_take_version,
                    "Version of accelerate (default: 1.10)", "VERSION" } },
  { OPTION_EVERYWHERE, { "quiet", 'q', SWITCH, (gpointer) take_switch,
                         "Print nothing but the result and errors", NULL } },
  { OPTION_EVERYWHERE, { "verbose", 'v', SWITCH, (gpointer) take_switch,
                         "Say more: how long it took; list: all columns", NULL } },
  { OPTION_EVERYWHERE, { "help", 'h', SWITCH, (gpointer) take_switch,
                         "Print this and exit", NULL } },
  { OPTION_EVERYWHERE, { "version", 0, SWITCH, (gpointer) take_switch,
                         "Print the version and exit", NULL } },
  { OPTION_EVERYWHERE, { G_OPTION_REMAINING, 0, VALUE, (gpointer) take_argument, NULL, NULL } },
};
/* clang-format on */

static GOptionContext *
context_new (OptionSet taken, Options *options)
{
  GOptionContext *context = g_option_context_new (NULL);
  GOptionGroup *group = g_option_group_new ("fsdpsim", "", "", options, NULL);
  GOptionEntry entries[G_N_ELEMENTS (option_rows) + 1] = { 0 };
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (option_rows); i++)
    if (option_rows[i].option & taken)
      entries[n++] = option_rows[i].entry;
  g_option_group_add_entries (group, entries);
  g_option_context_set_main_group (context, group);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_ignore_unknown_options (context, TRUE);
  return context;
}

/* ---- options that GLib left over ---- */

static gboolean
row_is_named (const OptionRow *row, const char *word)
{
  const GOptionEntry *entry = &row->entry;

  if (word[1] == '-')
    return *entry->long_name != '\0' && strcmp (word + 2, entry->long_name) == 0;
  return entry->short_name != '\0' && word[1] == entry->short_name;
}

static const OptionRow *
find_row (const char *word)
{
  for (guint i = 0; i < G_N_ELEMENTS (option_rows); i++)
    if (row_is_named (&option_rows[i], word))
      return &option_rows[i];
  return NULL;
}

static char *
suggest_option (OptionSet taken, const char *word)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);

  if (word[1] != '-')
    return g_strdup ("");
  for (guint i = 0; i < G_N_ELEMENTS (option_rows); i++)
    if ((option_rows[i].option & taken) && *option_rows[i].entry.long_name != '\0')
      g_ptr_array_add (words, g_strconcat ("--", option_rows[i].entry.long_name, NULL));
  g_ptr_array_add (words, NULL);
  return suggest_clause (word, (const char *const *)words->pdata);
}

static void
refuse_option (OptionSet taken, const char *text, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);
  const char *word = parts[0];
  const OptionRow *row = find_row (word);
  g_autofree char *clause = NULL;

  if (row != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION,
                 "%s means nothing to this command", word);
  else
    {
      clause = suggest_option (taken, word);
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, "unknown option %s%s",
                   word, clause);
    }
}

/* GLib would take "--quiet=3" and drop the 3. */
static gboolean
switches_have_no_value (OptionSet taken, int argc, char **argv, GError **error)
{
  for (int i = 1; i < argc && strcmp (argv[i], "--") != 0; i++)
    {
      g_auto (GStrv) parts = g_strsplit (argv[i], "=", 2);
      const OptionRow *row;

      if (!g_str_has_prefix (argv[i], "--") || parts[1] == NULL)
        continue;
      row = find_row (parts[0]);
      if (row == NULL || !(row->option & taken) || !(row->entry.flags & G_OPTION_FLAG_NO_ARG))
        continue;
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s takes no value", parts[0]);
      return FALSE;
    }
  return TRUE;
}

/* ---- values written onto their option ---- */

static const OptionRow *
find_short (OptionSet taken, char letter)
{
  for (guint i = 0; i < G_N_ELEMENTS (option_rows); i++)
    if ((option_rows[i].option & taken) && letter != '\0'
        && option_rows[i].entry.short_name == letter)
      return &option_rows[i];
  return NULL;
}

/* Where in "-j", "-j2" or "-qj2" the option is that takes a value; NULL if none does. */
static const char *
letter_with_value (OptionSet taken, const char *word)
{
  if (word[0] != '-' || word[1] == '-')
    return NULL;
  for (const char *letter = word + 1; *letter != '\0'; letter++)
    {
      const OptionRow *row = find_short (taken, *letter);

      if (row == NULL)
        return NULL;
      if (!(row->entry.flags & G_OPTION_FLAG_NO_ARG))
        return letter;
    }
  return NULL;
}

static gboolean
takes_next_word (OptionSet taken, const char *word)
{
  const char *letter = letter_with_value (taken, word);
  const OptionRow *row = g_str_has_prefix (word, "--") ? find_row (word) : NULL;

  return (letter != NULL && letter[1] == '\0')
         || (row != NULL && !(row->entry.flags & G_OPTION_FLAG_NO_ARG));
}

/* "-j2" as "-j" "2", which is all that GLib takes; not behind "--". */
static GPtrArray *
words_apart (OptionSet taken, int argc, char **argv)
{
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  gboolean ended = FALSE, is_value = FALSE;

  for (int i = 0; i < argc; i++)
    {
      const gboolean is_option = i > 0 && !ended && !is_value;
      const char *letter = is_option ? letter_with_value (taken, argv[i]) : NULL;

      ended = ended || (is_option && strcmp (argv[i], "--") == 0);
      is_value = is_option && takes_next_word (taken, argv[i]);
      if (letter == NULL || letter[1] == '\0')
        g_ptr_array_add (words, g_strdup (argv[i]));
      else
        {
          g_ptr_array_add (words, g_strndup (argv[i], (gsize)(letter + 1 - argv[i])));
          g_ptr_array_add (words, g_strdup (letter + 1));
        }
    }
  return words;
}

/* ---- the whole ---- */

void
options_init (Options *options)
{
  *options = (Options){
    .overrides = g_ptr_array_new_with_free_func (g_free),
    .n_jobs = g_get_num_processors (),
    .seed = 1,
    .n_folds = FOLDS,
    .ranks = g_array_new (FALSE, FALSE, sizeof (guint)),
    .terminal = g_strdup ("svg"),
    .collectives = g_array_new (FALSE, FALSE, sizeof (CollectiveKind)),
    .sizes = g_array_new (FALSE, FALSE, sizeof (gint64)),
    .vary = g_ptr_array_new_with_free_func (g_free),
    .points = g_ptr_array_new_with_free_func (g_free),
    .shard = 1,
    .limits = { .headroom = 0.05 },
    .n_shards = 1,
    .arguments = g_ptr_array_new_with_free_func (g_free),
  };
  options_check_init (&options->check);
}

void
options_clear (Options *options)
{
  g_ptr_array_unref (options->overrides);
  g_free (options->folder);
  g_array_unref (options->ranks);
  g_free (options->variant);
  g_free (options->terminal);
  g_free (options->quality);
  g_free (options->require);
  g_free (options->run_id);
  g_free (options->base_scenario);
  g_array_unref (options->collectives);
  g_array_unref (options->sizes);
  g_free (options->calibrate);
  g_free (options->against);
  g_ptr_array_unref (options->vary);
  g_ptr_array_unref (options->points);
  g_ptr_array_unref (options->arguments);
  options_check_clear (&options->check);
}

gboolean
options_parse (Options *options, OptionSet taken, int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = context_new (taken, options);
  g_autoptr (GPtrArray) words = words_apart (taken, argc, argv);
  g_autofree char **left = g_memdup2 (words->pdata, words->len * sizeof (char *));

  argc = (int)words->len;
  argv = left;
  if (!switches_have_no_value (taken, argc, argv, error)
      || !g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  g_ptr_array_add (options->overrides, NULL);
  if (options->format == FORMAT_MAN && !(taken & OPTION_MAN_FORMAT))
    return refuse (error, "-f", "man", "table, csv or json");
  if (options->budget.price_per_gpu_hour > 0 && options->budget.tokens <= 0 && !options->help)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--price needs --tokens, which say how long the GPUs are needed");
      return FALSE;
    }
  if (argc > 1 && !options->help)
    {
      refuse_option (taken, argv[1], error);
      return FALSE;
    }
  return TRUE;
}

char *
options_list (OptionSet taken)
{
  g_autoptr (GOptionContext) context = context_new (taken, NULL);
  g_autofree char *help = g_option_context_get_help (context, TRUE, NULL);
  const char *first = strstr (help, "\n  -"); /* behind the usage, which names the program */

  if (first == NULL)
    return g_strdup (""); /* a command without options of its own */
  return g_strconcat (g_strchomp ((char *)first + 1), "\n", NULL);
}

const char *const *
options_overrides (const Options *options)
{
  return (const char *const *)options->overrides->pdata;
}
