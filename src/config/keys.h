/* The table of every key that scenario, model, GPU and cluster files may hold:
 * one list for the parser, `show`, `list keys`, the manual and completion. */
#pragma once

#include <glib.h>

typedef struct
{
  const char *section; /* "model" */
  const char *key;     /* "layers" */
  const char *value;   /* what it takes, in words: "count", "time", "fsdp1 | fsdp2 | ddp" */
  const char *standard; /* the default, as text; NULL: must be given */
  const char *help;    /* one sentence */
} KeyInfo;

/* All keys in the order of the manual; *n is their number. */
const KeyInfo *keys_list (guint *n);
