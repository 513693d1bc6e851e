#include <config.h>

#include "interop/trace_keys.h"

#include <string.h>

static gboolean
is_word (const char *word, const unsigned char *text, size_t length)
{
  return strlen (word) == length && memcmp (word, text, length) == 0;
}

guint
trace_find_word (const TraceWord *words, const unsigned char *text, size_t length)
{
  for (; words->word != NULL; words++)
    if (is_word (words->word, text, length))
      break;
  return words->key;
}

/* ---- around the events ---- */

static const TraceWord top_words[] = {
  { "traceEvents", KEY_EVENTS },
  { "distributedInfo", KEY_DISTRIBUTED },
  { "deviceProperties", KEY_DEVICES },
  { "fsdpsim", KEY_FACTS },
  { "generator", KEY_GENERATOR },
  { "variant", KEY_VARIANT },
  { "nodes", KEY_GRAPH },
  { "workload_graph", KEY_GRAPH },
  { NULL, KEY_NONE },
};

static const TraceWord distributed_words[] = {
  { "rank", KEY_RANK },
  { "world_size", KEY_WORLD_SIZE },
  { NULL, KEY_NONE },
};

static const TraceWord device_words[] = {
  { "name", KEY_DEVICE_NAME },
  { NULL, KEY_NONE },
};

static const TraceWord fact_words[] = {
  { "n_ranks", FACT_N_RANKS },
  { "peak_flops", FACT_PEAK_FLOPS },
  { "tokens_per_step", FACT_TOKENS },
  { "model_flops_per_token", FACT_MODEL_FLOPS },
  { "hardware_flops_per_token", FACT_HARDWARE_FLOPS },
  { "step_error", FACT_STEP_ERROR },
  { "capacity_bytes", FACT_CAPACITY },
  { "peak_allocated_bytes", FACT_ALLOCATED },
  { "peak_reserved_bytes", FACT_RESERVED },
  { "peak_phase", FACT_PEAK_PHASE },
  { "reason", FACT_REASON },
  { "scenario", FACT_SCENARIO },
  { "scenario_sha256", FACT_SHA256 },
  { NULL, FACT_NONE },
};

guint
trace_top_key (const unsigned char *text, size_t length)
{
  return trace_find_word (top_words, text, length);
}

guint
trace_distributed_key (const unsigned char *text, size_t length)
{
  return trace_find_word (distributed_words, text, length);
}

guint
trace_device_key (const unsigned char *text, size_t length)
{
  return trace_find_word (device_words, text, length);
}

guint
trace_fact_key (const unsigned char *text, size_t length)
{
  return trace_find_word (fact_words, text, length);
}

/* ---- events, of which there are millions ---- */

guint
trace_event_key (const unsigned char *text, size_t length)
{
  switch (length)
    {
    case 2:
      return text[0] == 't' && text[1] == 's'   ? KEY_START
             : text[0] == 'p' && text[1] == 'h' ? KEY_PHASE
                                                : KEY_NONE;
    case 3:
      return is_word ("cat", text, length)   ? KEY_CATEGORY
             : is_word ("pid", text, length) ? KEY_PID
             : is_word ("tid", text, length) ? KEY_TID
             : is_word ("dur", text, length) ? KEY_DURATION
                                             : KEY_NONE;
    case 4:
      return is_word ("name", text, length)   ? KEY_NAME
             : is_word ("args", text, length) ? KEY_ARGUMENTS
                                              : KEY_NONE;
    default:
      return KEY_NONE;
    }
}

guint
trace_argument_key (const unsigned char *text, size_t length)
{
#define IS(word, key)                                                                              \
  if (memcmp (word, text, sizeof (word) - 1) == 0)                                                 \
  return key
  switch (length)
    {
    case 2:
      IS ("op", ARGUMENT_OP);
      break;
    case 4:
      IS ("lane", ARGUMENT_LANE);
      break;
    case 5:
      IS ("dtype", ARGUMENT_DTYPE);
      IS ("phase", ARGUMENT_PHASE);
      IS ("bytes", ARGUMENT_BYTES);
      break;
    case 6:
      IS ("stream", ARGUMENT_STREAM);
      break;
    case 9:
      IS ("FSDP unit", ARGUMENT_UNIT);
      break;
    case 10:
      IS ("Group size", ARGUMENT_GROUP_SIZE);
      IS ("began (us)", ARGUMENT_BEGAN);
      IS ("ended (us)", ARGUMENT_ENDED);
      break;
    case 11:
      IS ("correlation", ARGUMENT_CORRELATION);
      IS ("micro_batch", ARGUMENT_MICRO_BATCH);
      break;
    case 13:
      IS ("In msg nelems", ARGUMENT_IN_ELEMENTS);
      break;
    case 14:
      IS ("Out msg nelems", ARGUMENT_OUT_ELEMENTS);
      break;
    case 15:
      IS ("Collective name", ARGUMENT_COLLECTIVE);
      break;
    case 18:
      IS ("Process Group Name", ARGUMENT_GROUP_NAME);
      break;
    case 19:
      IS ("Process Group Ranks", ARGUMENT_GROUP_RANKS);
      break;
    case 22:
      IS ("waiting for ranks (us)", ARGUMENT_WAITED);
      break;
    default:
      break;
    }
#undef IS
  return ARGUMENT_NONE;
}
