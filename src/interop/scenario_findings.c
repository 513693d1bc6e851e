#include <config.h>

#include "interop/scenario_findings.h"

#include <string.h>

#include "config/ini.h"
#include "config/keys.h"

typedef struct
{
  const char *path;
  const IniFile *ini;
  const ScenarioFile *file;
  Findings *findings;
  GPtrArray *now; /* char * */
} Reading;

/* ---- where things stand ---- */

/* The last line that sets "section.key", also in a variant; the whole file where there is none. */
static Place
place_of (const Reading *reading, const char *section, const char *key)
{
  g_autofree char *dotted = g_strconcat (section, ".", key, NULL);
  Place place = { .file = reading->path };
  const IniSection *sections;
  guint n;

  sections = ini_sections (reading->ini, &n);
  for (guint i = 0; i < n; i++)
    for (guint e = 0; e < sections[i].n_entries; e++)
      {
        const IniEntry *entry = ini_entry (reading->ini, sections[i].first + e);

        if (strcmp (entry->key, dotted) == 0
            || (strcmp (sections[i].name, section) == 0 && strcmp (entry->key, key) == 0))
          {
            place.line = entry->key_place.line;
            place.column = entry->key_place.column;
            place.text = entry->key_place.text;
          }
      }
  return place;
}

static GPtrArray *
entries_of_first_variant (const IniFile *ini)
{
  GPtrArray *overrides = g_ptr_array_new_with_free_func (g_free);
  const IniSection *sections;
  guint n, i = 0;

  sections = ini_sections (ini, &n);
  while (i < n && !g_str_has_prefix (sections[i].name, "variant "))
    i++;
  for (guint e = 0; i < n && e < sections[i].n_entries; e++)
    {
      const IniEntry *entry = ini_entry (ini, sections[i].first + e);

      g_ptr_array_add (overrides, g_strconcat (entry->key, "=", entry->value, NULL));
    }
  return overrides;
}

/* ---- choices ---- */

/* The first variant with other values for some keys: "section.key=value", NULL-terminated. */
static void
add_choice (const Reading *reading, Finding *finding, const char *label, const char *const *instead)
{
  GPtrArray *overrides = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < reading->now->len; i++)
    {
      const char *entry = g_ptr_array_index (reading->now, i);
      gboolean is_replaced = FALSE;

      for (guint k = 0; instead[k] != NULL; k++)
        is_replaced |= strncmp (entry, instead[k], strcspn (instead[k], "=") + 1) == 0;
      if (!is_replaced)
        g_ptr_array_add (overrides, g_strdup (entry));
    }
  for (guint k = 0; instead[k] != NULL; k++)
    g_ptr_array_add (overrides, g_strdup (instead[k]));
  finding_add_choice (finding, label, overrides);
}

/* ---- rules ---- */

static gboolean
gathers_again (const Scenario *scenario)
{
  const FsdpConfig *fsdp = &scenario->fsdp;

  if (fsdp->api == API_FSDP2)
    return fsdp->reshard_after_forward != RESHARD_FALSE;
  return fsdp->api == API_FSDP1
         && (fsdp->strategy == STRATEGY_FULL_SHARD || fsdp->strategy == STRATEGY_HYBRID_SHARD);
}

static gboolean
is_naive (const Scenario *scenario)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;

  return scenario->fsdp.api == API_FSDP1 && checkpoint->method == CHECKPOINT_OUTSIDE
         && checkpoint->use_reentrant && gathers_again (scenario);
}

static gboolean
has_stale_gathers (const Scenario *scenario)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;

  return scenario->fsdp.api == API_FSDP2 && checkpoint->method == CHECKPOINT_OUTSIDE
         && checkpoint->use_reentrant && scenario->fsdp.torch_minor < 10;
}

static gboolean
does_not_prefetch (const Scenario *scenario)
{
  return scenario->fsdp.api == API_FSDP1 && scenario->fsdp.units != UNITS_ONE
         && scenario->fsdp.backward_prefetch == PREFETCH_NONE && gathers_again (scenario);
}

static gboolean
wraps_nothing (const Scenario *scenario)
{
  return scenario->fsdp.api != API_DDP && scenario->fsdp.units == UNITS_ONE;
}

static gboolean
is_hybrid_on_one_node (const Scenario *scenario)
{
  return scenario->fsdp.api == API_FSDP1 && scenario->cluster.nodes == 1
         && scenario->fsdp.strategy == STRATEGY_HYBRID_SHARD
         && scenario->fsdp.shard_group_size == scenario->cluster.gpus_per_node;
}

static const struct
{
  FindingCode code;
  gboolean (*applies) (const Scenario *scenario);
  const char *section, *key;
  const char *message, *fix, *label;
  const char *const instead[3];
} rules[] = {
  { FINDING_NAIVE_CHECKPOINTING,
    is_naive,
    "activation_checkpointing",
    "method",
    "a reentrant checkpoint around each FSDP unit: every block is all-gathered 2 times in the "
    "backward instead of 1, and backward_prefetch finds nothing to fetch.",
    "method = apply_activation_checkpointing\nuse_reentrant = false",
    "apply_activation_checkpointing",
    { "activation_checkpointing.method=apply_activation_checkpointing",
      "activation_checkpointing.use_reentrant=false" } },
  { FINDING_REENTRANT_FSDP2,
    has_stale_gathers,
    "activation_checkpointing",
    "use_reentrant",
    "a reentrant checkpoint around each FSDP2 unit before torch 2.10: every block is gathered 2 "
    "times in the backward, and once more for nobody.",
    "use_reentrant = false",
    "use_reentrant false",
    { "activation_checkpointing.use_reentrant=false" } },
  { FINDING_PREFETCH_OFF,
    does_not_prefetch,
    "fsdp",
    "backward_prefetch",
    "backward prefetch is turned off here.",
    "backward_prefetch = BACKWARD_PRE",
    "backward_prefetch BACKWARD_PRE",
    { "fsdp.backward_prefetch=BACKWARD_PRE" } },
  { FINDING_NOTHING_WRAPPED,
    wraps_nothing,
    "fsdp",
    "units",
    "one unit for the whole model: it is gathered before the first block and stays for the whole "
    "step.",
    "units = root_and_blocks",
    "a unit a block",
    { "fsdp.units=root_and_blocks" } },
  { FINDING_HYBRID_ON_ONE_NODE,
    is_hybrid_on_one_node,
    "fsdp",
    "sharding_strategy",
    "HYBRID_SHARD on one node replicates over nothing: it is FULL_SHARD.",
    "sharding_strategy = FULL_SHARD",
    "FULL_SHARD",
    { "fsdp.sharding_strategy=FULL_SHARD" } },
};

static gboolean
applies_to_all (const ScenarioFile *file, gboolean (*applies) (const Scenario *scenario))
{
  for (guint i = 0; i < scenario_file_n_variants (file); i++)
    if (!applies (scenario_file_variant (file, i)))
      return FALSE;
  return TRUE;
}

static void
find_refusals (const Reading *reading, ScenarioCheck check)
{
  guint n_keys;
  const KeyInfo *keys = keys_list (&n_keys);

  for (guint i = 0; i < scenario_file_n_variants (reading->file); i++)
    {
      const Scenario *scenario = scenario_file_variant (reading->file, i);
      g_autoptr (GError) error = NULL;
      const KeyInfo *key;
      Place place;

      if (check (scenario, &error))
        continue;
      key = &keys[error->code];
      place = place_of (reading, key->section, key->key);
      findings_add (reading->findings, FINDING_REFUSED, &place,
                    "variant %s is refused for its %s.%s: %s.", scenario->variant, key->section,
                    key->key, error->message);
    }
}

GPtrArray *
scenario_findings (const char *path, const char *text, gsize length, const ScenarioFile *file,
                   ScenarioCheck check, Findings *findings)
{
  g_autoptr (Problems) unused = problems_new (); /* the file was read before */
  g_autoptr (IniFile) ini = ini_parse (path, text, length, unused);
  Reading reading = { path, ini, file, findings, entries_of_first_variant (ini) };

  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      const Place place = place_of (&reading, rules[i].section, rules[i].key);
      Finding *finding;

      if (!applies_to_all (file, rules[i].applies))
        continue;
      finding = findings_add (findings, rules[i].code, &place, "%s", rules[i].message);
      finding_set_fix (finding, "[%s]\n%s", rules[i].section, rules[i].fix);
      add_choice (&reading, finding, rules[i].label, rules[i].instead);
    }
  find_refusals (&reading, check);
  findings_sort (findings);
  return reading.now;
}
