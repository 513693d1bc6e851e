#include <config.h>

#include "config/keys_unknown.h"
#include "config/keys.h"
#include "config/keys_foreign.h"
#include "config/suggest.h"

#include <string.h>

/* Ways of splitting a model that are not simulated, by the words that settings
 * of other programs begin with or are ("tp_size", "tensor_parallel_degree"). */
static const struct
{
  const char *word;
  const char *abbreviation;
  const char *what;
} not_modelled[] = { { "tensor", "tp", "tensor parallelism" },
                     { "pipeline", "pp", "pipeline parallelism" },
                     { "context", "cp", "context parallelism" },
                     { "expert", "ep", "expert parallelism" },
                     { "sequence_parallel", "sp", "sequence parallelism" } };

static gboolean
begins_with_word (const char *name, const char *word)
{
  gsize n = strlen (word);

  return strncmp (name, word, n) == 0 && (name[n] == '\0' || name[n] == '_');
}

/* "tensor_parallel_size" and "tensor_model_parallel", but not "tensor_cores". */
static const char *
find_not_modelled (const char *key)
{
  g_autofree char *name = g_ascii_strdown (key, -1);

  g_strdelimit (name, "-", '_');
  for (guint i = 0; i < G_N_ELEMENTS (not_modelled); i++)
    if (begins_with_word (name, not_modelled[i].abbreviation)
        || (begins_with_word (name, not_modelled[i].word) && strstr (name, "parallel") != NULL))
      return not_modelled[i].what;
  return NULL;
}

char *
unmodelled_key_message (const char *key)
{
  const char *what = find_not_modelled (key);

  return what != NULL ? g_strdup_printf ("%s is not modelled", what) : NULL;
}

/* The key of this name, in upper case or lower, where only one section has it; else NULL. */
static const KeyInfo *
find_elsewhere (const char *key)
{
  const KeyInfo *found = NULL;
  guint n;
  const KeyInfo *keys = keys_list (&n);

  for (guint i = 0; i < n; i++)
    if (g_ascii_strcasecmp (keys[i].key, key) == 0)
      {
        if (found != NULL)
          return NULL;
        found = &keys[i];
      }
  return found;
}

static char *
nearest_key_clause (const char *section, const char *key)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  guint n;
  const KeyInfo *keys = keys_list (&n);

  for (guint i = 0; i < n; i++)
    if (strcmp (keys[i].section, section) == 0)
      g_ptr_array_add (words, (gpointer)keys[i].key);
  g_ptr_array_add (words, NULL);
  return suggest_clause (key, (const char *const *)words->pdata);
}

char *
unknown_key_message (const char *section, const char *key)
{
  const KeyInfo *other = find_elsewhere (key);
  char *message = unmodelled_key_message (key);
  g_autofree char *clause = NULL;

  if (message != NULL)
    return message;
  if (other != NULL && strcmp (other->key, key) == 0)
    return g_strdup_printf ("unknown key; it belongs to [%s]", other->section);
  if (other != NULL)
    return g_strdup_printf ("unknown key; here it is '%s.%s'", other->section, other->key);
  clause = foreign_key_clause (key);
  if (clause == NULL)
    clause = nearest_key_clause (section, key);
  return g_strconcat (
      "unknown key",
      clause[0] != '\0' ? clause : "; 'fsdpsim list keys' shows those that there are", NULL);
}

char *
unknown_section_message (const char *section)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  char *message = unmodelled_key_message (section);
  g_autofree char *clause = NULL;

  if (message != NULL)
    return message;
  for (const char *const *at = keys_sections (); *at != NULL; at++)
    g_ptr_array_add (words, (gpointer)*at);
  g_ptr_array_add (words, (gpointer) "sweep");
  g_ptr_array_add (words, (gpointer) "variant NAME");
  g_ptr_array_add (words, NULL);
  clause = suggest_clause (section, (const char *const *)words->pdata);
  return g_strconcat ("unknown section", clause, NULL);
}

static gboolean
is_section (const char *name)
{
  for (const char *const *at = keys_sections (); *at != NULL; at++)
    if (strcmp (*at, name) == 0)
      return TRUE;
  return FALSE;
}

char *
unknown_dotted_message (const char *name)
{
  const char *dot = strchr (name, '.');
  g_autofree char *section = NULL;
  g_autofree char *clause = NULL;
  const KeyInfo *home;
  char *message = unmodelled_key_message (dot != NULL ? dot + 1 : name);

  if (message != NULL)
    return message;

  if (dot != NULL)
    {
      section = g_strndup (name, (gsize)(dot - name));
      return is_section (section) ? unknown_key_message (section, dot + 1)
                                  : unknown_section_message (section);
    }
  home = find_elsewhere (name);
  if (home != NULL)
    return g_strdup_printf ("expected section.key; did you mean '%s.%s'?", home->section,
                            home->key);
  clause = foreign_key_clause (name);
  if (clause != NULL)
    return g_strconcat ("expected section.key", clause, NULL);
  return g_strdup ("expected section.key, such as training.micro_batch");
}
