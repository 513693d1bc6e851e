/* The keys of a trace's JSON that are read, by the object that they stand in. */
#pragma once

#include <glib.h>

enum
{
  KEY_NONE,
  /* outermost */
  KEY_EVENTS,
  KEY_DISTRIBUTED,
  KEY_DEVICES,
  KEY_FACTS,
  KEY_GENERATOR,
  KEY_VARIANT,
  KEY_GRAPH,
  /* distributedInfo */
  KEY_RANK,
  KEY_WORLD_SIZE,
  /* deviceProperties */
  KEY_DEVICE_NAME,
  /* events */
  KEY_PHASE,
  KEY_CATEGORY,
  KEY_NAME,
  KEY_PID,
  KEY_TID,
  KEY_START,
  KEY_DURATION,
  KEY_ARGUMENTS
};

enum
{
  FACT_NONE,
  FACT_N_RANKS,
  FACT_PEAK_FLOPS,
  FACT_TOKENS,
  FACT_MODEL_FLOPS,
  FACT_HARDWARE_FLOPS,
  FACT_STEP_ERROR,
  FACT_CAPACITY,
  FACT_ALLOCATED,
  FACT_RESERVED,
  FACT_PEAK_PHASE,
  FACT_REASON,
  FACT_SCENARIO,
  FACT_SHA256
};

enum
{
  ARGUMENT_NONE,
  ARGUMENT_OP,
  ARGUMENT_LANE,
  ARGUMENT_DTYPE,
  ARGUMENT_PHASE,
  ARGUMENT_BYTES,
  ARGUMENT_STREAM,
  ARGUMENT_UNIT,
  ARGUMENT_GROUP_SIZE,
  ARGUMENT_BEGAN,
  ARGUMENT_ENDED,
  ARGUMENT_CORRELATION,
  ARGUMENT_MICRO_BATCH,
  ARGUMENT_IN_ELEMENTS,
  ARGUMENT_OUT_ELEMENTS,
  ARGUMENT_COLLECTIVE,
  ARGUMENT_GROUP_NAME,
  ARGUMENT_GROUP_RANKS,
  ARGUMENT_WAITED
};

typedef struct
{
  const char *word;
  guint key;
} TraceWord;

/* @words ends with NULL, whose key is that of all other words. */
guint trace_find_word (const TraceWord *words, const unsigned char *text, size_t length);

guint trace_top_key (const unsigned char *text, size_t length);
guint trace_distributed_key (const unsigned char *text, size_t length);
guint trace_device_key (const unsigned char *text, size_t length);
guint trace_fact_key (const unsigned char *text, size_t length);
guint trace_event_key (const unsigned char *text, size_t length);
guint trace_argument_key (const unsigned char *text, size_t length);
