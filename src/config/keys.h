/* The table of every key that scenario, model, GPU and cluster files may hold:
 * one list for the parser, `show`, `list keys`, the manual and completion. */
#pragma once

#include "config/scenario.h"
#include "config/units.h"

/* What a key's value is and how a Scenario holds it. */
typedef enum
{
  KEY_TEXT,        /* free text; char *, or held nowhere */
  KEY_COUNT,       /* guint */
  KEY_WHOLE,       /* gint64, with or without a unit */
  KEY_REAL,        /* double */
  KEY_FLAG,        /* gboolean */
  KEY_CHOICE,      /* enum of choices.def */
  KEY_TORCH,       /* fsdp.torch */
  KEY_RESHARD,     /* fsdp.reshard_after_forward */
  KEY_TRAINABLE,   /* training.trainable */
  KEY_LORA,        /* training.lora_targets; guint, lora.h */
  KEY_SELECT,      /* activation_checkpointing.select */
  KEY_NUMBERED,    /* NumberedList */
  KEY_BLOCK_KINDS, /* model.block_kinds; char *, block_kinds.h */
  KEY_BLOCK_ORDER  /* model.block_order; the same */
} KeyType;

#define KEY_HELD_NOWHERE G_MAXSIZE

typedef struct
{
  const char *section;  /* "model" */
  const char *key;      /* "layers" */
  const char *value;    /* what it takes, in words: "count", "time", "fsdp1 | fsdp2 | ddp" */
  const char *standard; /* the default, as text; "": none needed; NULL: must be given.
                           Where it is "auto", a file may say auto too. */
  const char *help;     /* one sentence */
  KeyType type;
  UnitKind unit;
  gsize offset;             /* into Scenario, or KEY_HELD_NOWHERE */
  double minimum, maximum;  /* of numbers, in base units, both allowed */
  const char *const *words; /* of choices */
} KeyInfo;

/* Names of the keys in C: ID_model_layers. */
typedef enum
{
#define KEY(section, key, ...) ID_##section##_##key,
#include "config/keys.def"
#undef KEY
  N_KEYS
} KeyId;

/* All keys in the order of the manual, by KeyId; *n is their number. */
const KeyInfo *keys_list (guint *n);

/* Names of the sections in the same order, NULL-terminated; without sweep and variants. */
const char *const *keys_sections (void);

/* The key of a section, or NULL. */
const KeyInfo *keys_find (const char *section, const char *key);
/* The key behind "section.key", or NULL. */
const KeyInfo *keys_find_dotted (const char *name);

KeyId keys_id (const KeyInfo *key);
