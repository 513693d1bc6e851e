#include <config.h>

#include "study/plan_space.h"

#include <string.h>

#include "config/value_list.h"

#define MOST_MICRO_BATCH 128

gint64
plan_usable_bytes (gint64 capacity_bytes, double headroom)
{
  return (gint64)((double)capacity_bytes * (1 - headroom));
}

/* ---- what the user varies ---- */

typedef struct
{
  const char *const *vary;
  const PlanLimits *limits;
  const Scenario *scenario;
  Problems *problems;
} Wishes;

/* The list that the user gives for a key, or NULL. */
static const char *
wished_list (const Wishes *wishes, const char *key)
{
  const gsize length = strlen (key);

  for (guint i = 0; wishes->vary[i] != NULL; i++)
    if (strncmp (wishes->vary[i], key, length) == 0 && wishes->vary[i][length] == '=')
      return wishes->vary[i] + length + 1;
  return NULL;
}

static gboolean
is_about_jobs (const char *option)
{
  return g_str_has_prefix (option, "cluster.nodes=")
         || g_str_has_prefix (option, "training.micro_batch=")
         || g_str_has_prefix (option, "training.grad_accum=");
}

/* Numbers of a list that the user gives; an empty array where there is none. */
static GArray *
wished_numbers (const Wishes *wishes, const char *key)
{
  const char *list = wished_list (wishes, key);
  const Place place = { .file = "--vary", .column = 1, .text = list };
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (guint));

  if (list == NULL
      || !value_list_read (keys_find_dotted (key), list, &place, values, wishes->problems))
    return numbers;
  for (guint i = 0; i < values->len; i++)
    {
      const guint number = (guint)g_ascii_strtoull (g_ptr_array_index (values, i), NULL, 10);

      g_array_append_val (numbers, number);
    }
  return numbers;
}

/* 1, 2, 3, 4, 6, 8, 12, … below @most, and @most itself. */
static GArray *
round_numbers (guint most)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint power = 1; power < most; power *= 2)
    {
      const guint between = power / 2 * 3;

      g_array_append_val (numbers, power);
      if (between > power && between < most)
        g_array_append_val (numbers, between);
    }
  g_array_append_val (numbers, most);
  return numbers;
}

/* ---- jobs ---- */

static GArray *
choices_of (const Wishes *wishes, const char *key, guint most)
{
  g_autoptr (GArray) wished = wished_numbers (wishes, key);

  return wished->len > 0 ? g_steal_pointer (&wished) : round_numbers (most);
}

/* The accumulation that makes the global batch of a job; 0: none does. */
static guint
accumulation_of (const Wishes *wishes, guint nodes, guint micro_batch)
{
  const guint64 at_once = (guint64)nodes * wishes->scenario->cluster.gpus_per_node * micro_batch;

  return wishes->limits->global_batch % at_once == 0
             ? (guint)(wishes->limits->global_batch / at_once)
             : 0;
}

static void
add_jobs_of (const Wishes *wishes, guint nodes, const GArray *micro_batches,
             const GArray *accumulations, GArray *jobs)
{
  for (guint a = 0; a < accumulations->len; a++)
    for (guint m = 0; m < micro_batches->len; m++)
      {
        PlanJob job = { nodes, g_array_index (micro_batches, guint, m),
                        g_array_index (accumulations, guint, a) };

        if (wishes->limits->global_batch > 0)
          job.grad_accum = accumulation_of (wishes, nodes, job.micro_batch);
        if (job.grad_accum > 0)
          g_array_append_val (jobs, job);
      }
}

static guint
most_nodes (const Wishes *wishes)
{
  const ClusterConfig *cluster = &wishes->scenario->cluster;

  return wishes->limits->max_gpus > 0 ? wishes->limits->max_gpus / cluster->gpus_per_node
                                      : cluster->nodes;
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  const guint x = *(const guint *)a, y = *(const guint *)b;

  return x < y ? -1 : x > y;
}

/* Without --gpus the scenario's own number of nodes alone. */
static GArray *
node_choices (const Wishes *wishes)
{
  GArray *nodes = wished_numbers (wishes, "cluster.nodes");

  if (nodes->len > 0)
    return nodes;
  if (wishes->limits->max_gpus == 0)
    {
      g_array_append_val (nodes, wishes->scenario->cluster.nodes);
      return nodes;
    }
  g_array_unref (nodes);
  return round_numbers (most_nodes (wishes));
}

static void
list_jobs (const Wishes *wishes, GArray *jobs)
{
  g_autoptr (GArray) nodes = node_choices (wishes);
  g_autoptr (GArray) micro_batches = choices_of (wishes, "training.micro_batch", MOST_MICRO_BATCH);
  g_autoptr (GArray) accumulations = wished_numbers (wishes, "training.grad_accum");

  if (accumulations->len == 0 || wishes->limits->global_batch > 0)
    {
      g_array_set_size (accumulations, 0);
      g_array_append_val (accumulations, wishes->scenario->training.grad_accum);
    }
  g_array_sort (micro_batches, compare_numbers);
  for (guint i = 0; i < nodes->len; i++)
    add_jobs_of (wishes, g_array_index (nodes, guint, i), micro_batches, accumulations, jobs);
}

/* ---- axes, as the CSV text of points ---- */

static char *
write_jobs (const GArray *jobs)
{
  GString *text = g_string_new ("cluster.nodes,training.micro_batch,training.grad_accum\n");

  for (guint i = 0; i < jobs->len; i++)
    {
      const PlanJob *job = &g_array_index (jobs, PlanJob, i);

      g_string_append_printf (text, "%u,%u,%u\n", job->nodes, job->micro_batch, job->grad_accum);
    }
  return g_string_free (text, FALSE);
}

/* Groups of whole nodes below the job: one node, two, four, … */
static void
write_hybrids (GString *text, const char *strategy, const char *rest, const Wishes *wishes,
               guint nodes)
{
  for (guint group = 1; group < nodes; group *= 2)
    g_string_append_printf (text, "%s,%u%s\n", strategy,
                            group * wishes->scenario->cluster.gpus_per_node, rest);
}

static char *
write_sharding (const Wishes *wishes, guint nodes)
{
  GString *text = g_string_new ("fsdp.sharding_strategy,fsdp.shard_group_size");

  if (wishes->scenario->fsdp.api == API_FSDP2)
    {
      g_string_append (text, ",fsdp.reshard_after_forward\nFULL_SHARD,auto,auto\n"
                             "FULL_SHARD,auto,false\n");
      write_hybrids (text, "HYBRID_SHARD", ",auto", wishes, nodes);
      write_hybrids (text, "HYBRID_SHARD", ",false", wishes, nodes);
    }
  else
    {
      g_string_append (text, "\nFULL_SHARD,auto\nSHARD_GRAD_OP,auto\n");
      write_hybrids (text, "HYBRID_SHARD", "", wishes, nodes);
      write_hybrids (text, "HYBRID_SHARD_ZERO2", "", wishes, nodes);
    }
  return g_string_free (text, FALSE);
}

#define CHECKPOINTING                                                                              \
  "activation_checkpointing.method,activation_checkpointing.use_reentrant,"                        \
  "activation_checkpointing.select\n"                                                              \
  "none,false,all\n"                                                                               \
  "apply_activation_checkpointing,false,op\n"                                                      \
  "apply_activation_checkpointing,false,every:2\n"                                                 \
  "apply_activation_checkpointing,false,all\n"

#define PREFETCH                                                                                   \
  "fsdp.backward_prefetch,fsdp.forward_prefetch\n"                                                 \
  "BACKWARD_PRE,false\nBACKWARD_PRE,true\nBACKWARD_POST,false\nBACKWARD_POST,true\n"

#define OFFLOAD "fsdp.cpu_offload\nfalse\ntrue\n"

/* Adds the axis unless the user varies one of its keys, then FALSE. */
static gboolean
add_axis (Grid *grid, const Wishes *wishes, const char *points)
{
  g_autofree char *header = g_strndup (points, strcspn (points, "\n"));
  g_auto (GStrv) keys = g_strsplit (header, ",", -1);

  for (guint i = 0; keys[i] != NULL; i++)
    if (wished_list (wishes, keys[i]) != NULL)
      return FALSE;
  grid_add_points (grid, "plan", points, strlen (points), wishes->problems);
  return TRUE;
}

static guint
largest_nodes (const GArray *jobs)
{
  guint most = 0;

  for (guint i = 0; i < jobs->len; i++)
    most = MAX (most, g_array_index (jobs, PlanJob, i).nodes);
  return most;
}

/* The jobs come first and the offload second, as those who look for a job's cells expect. Returns
 * whether offload is tried. */
static gboolean
add_axes (PlanSpace *space, const Wishes *wishes)
{
  const gboolean may_shard = wishes->scenario->fsdp.api != API_DDP;
  gboolean offloads;
  g_autofree char *jobs = write_jobs (space->jobs);
  g_autofree char *sharding = write_sharding (wishes, largest_nodes (space->jobs));

  grid_add_points (space->grid, "plan", jobs, strlen (jobs), wishes->problems);
  offloads = may_shard && add_axis (space->grid, wishes, OFFLOAD);
  if (may_shard)
    add_axis (space->grid, wishes, sharding);
  add_axis (space->grid, wishes, CHECKPOINTING);
  if (wishes->scenario->fsdp.api == API_FSDP1)
    add_axis (space->grid, wishes, PREFETCH);
  for (guint i = 0; wishes->vary[i] != NULL; i++)
    if (!is_about_jobs (wishes->vary[i]))
      grid_add_option (space->grid, wishes->vary[i], wishes->problems);
  return offloads;
}

static void
note_no_job (const Wishes *wishes)
{
  const Place place = { .file = "plan" };
  const guint per_node = wishes->scenario->cluster.gpus_per_node;

  if (most_nodes (wishes) == 0)
    problems_add (wishes->problems, &place, NULL, NULL,
                  "%u GPUs are less than a node of %u; --gpus %u would do",
                  wishes->limits->max_gpus, per_node, per_node);
  else
    problems_add (wishes->problems, &place, NULL, NULL,
                  "no number of nodes and micro-batch makes a global batch of %u sequences; a "
                  "multiple of the %u GPUs of a node would do",
                  wishes->limits->global_batch, per_node);
}

gboolean
plan_space_init (PlanSpace *space, const ScenarioFile *file, guint variant,
                 const PlanLimits *limits, const char *const *vary, Problems *problems)
{
  const Wishes wishes = { vary, limits, scenario_file_variant (file, variant), problems };
  const guint n_before = problems_count (problems);
  gboolean offloads = FALSE;

  *space = (PlanSpace){ grid_new (), g_array_new (FALSE, FALSE, sizeof (PlanJob)), 0, 0 };
  if (limits->max_gpus == 0 || most_nodes (&wishes) > 0)
    list_jobs (&wishes, space->jobs);
  if (problems_count (problems) == n_before && space->jobs->len == 0)
    note_no_job (&wishes);
  if (problems_count (problems) == n_before)
    offloads = add_axes (space, &wishes);
  if (problems_count (problems) == n_before && space->jobs->len > 0)
    space->n_rest = grid_n_cells (space->grid) / space->jobs->len;
  space->n_on_gpu = offloads ? space->n_rest / 2 : space->n_rest;
  return problems_count (problems) == n_before;
}

void
plan_space_clear (PlanSpace *space)
{
  g_clear_pointer (&space->grid, grid_free);
  g_clear_pointer (&space->jobs, g_array_unref);
}
