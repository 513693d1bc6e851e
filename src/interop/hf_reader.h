/* Typed access to the keys of a Hugging Face config.json. Keys have old and new
 * names: "hidden_size|n_embd" takes the first that is given. null counts as not
 * given. A wrong value is a problem at its line and column, and the caller goes on
 * with something harmless; a default taken is noted. */
#pragma once

#include "interop/json_file.h"

/* Largest sizes that are believed; those of [model] in scenario files. */
#define MOST_LAYERS  10000
#define MOST_WIDTH   (1 << 20)
#define MOST_HEADS   (1 << 16)
#define MOST_INNER   (1 << 22)
#define MOST_VOCAB   (1 << 24)
#define MOST_EXPERTS (1 << 14)
#define MOST_TOKENS  (1 << 26)

typedef struct
{
  JsonFile *file;
  JsonObject *object;     /* that the keys are read from */
  JsonObject *outer;      /* the object round it, or NULL */
  const char *class_name; /* whose defaults are taken: "LlamaConfig" */
  GPtrArray *defaults;    /* char *: "attention_bias = false" */
  GPtrArray *notes;       /* char *: what the reader should know */
  Problems *problems;
} HfReader;

void hf_note (HfReader *reader, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* A problem at the value of @key, or of the whole file where that is not given. */
void hf_refuse (HfReader *reader, const char *key, const char *format, ...) G_GNUC_PRINTF (3, 4);

gboolean hf_has (const HfReader *reader, const char *names);

/* Must be given, from 1. */
guint hf_size (HfReader *reader, const char *names, guint most);
/* From 1; the class's default where it is not given, which is noted. */
guint hf_size_or (HfReader *reader, const char *names, guint most, guint standard);
/* The same from 0, and a default that needs no note: it follows from other keys or means "none". */
guint hf_count (HfReader *reader, const char *names, guint most, guint standard);

gboolean hf_flag_or (HfReader *reader, const char *names, gboolean standard);
/* Without a note. */
gboolean hf_flag (HfReader *reader, const char *names, gboolean standard);
double hf_number (HfReader *reader, const char *names, double standard);
/* Borrowed. */
const char *hf_text (HfReader *reader, const char *names, const char *standard);

/* NULL where it is not given. */
JsonArray *hf_list (HfReader *reader, const char *names);
JsonObject *hf_object (HfReader *reader, const char *names);
/* A list of one whole number or word a layer; FALSE, with a problem, where it has
 * another length. A missing list is no list of that length. */
gboolean hf_list_fits (HfReader *reader, const char *names, guint layers);
/* Of a list that fits. */
gboolean hf_list_word_is (HfReader *reader, const char *names, guint layer, const char *word);
/* Whether the key is given, and as a list. */
gboolean hf_is_list (const HfReader *reader, const char *names);
/* Of element @layer. */
guint hf_list_count (HfReader *reader, const char *names, guint layer);

/* Whether a list of layer numbers, if there is one, has @layer. */
gboolean hf_list_has (HfReader *reader, const char *names, guint layer);
