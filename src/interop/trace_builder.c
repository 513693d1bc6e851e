#include <config.h>

#include <string.h>

#include "interop/trace_builder.h"

/* ---- words that are looked for ---- */

typedef struct
{
  const char *word;
  guint key;
} Keyword;

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

static const Keyword top_words[] = {
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

static const Keyword distributed_words[] = {
  { "rank", KEY_RANK },
  { "world_size", KEY_WORLD_SIZE },
  { NULL, KEY_NONE },
};

static const Keyword device_words[] = {
  { "name", KEY_DEVICE_NAME },
  { NULL, KEY_NONE },
};

static const Keyword fact_words[] = {
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

#define NOT_FOUND G_MAXUINT /* -1 where labels are kept */

static const Keyword op_words[] = {
#define OP(name, text, is_collective) { text, TIMELINE_##name },
#include "timeline/ops.def"
#undef OP
  { NULL, NOT_FOUND },
};

static const Keyword lane_words[] = {
#define LANE(name, text) { text, LANE_##name },
#include "timeline/lanes.def"
#undef LANE
  { NULL, NOT_FOUND },
};

static const Keyword phase_words[] = {
#define PHASE(name, text) { text, PHASE_##name },
#include "timeline/phases.def"
#undef PHASE
  { NULL, NOT_FOUND },
};

static gboolean
is_word (const char *word, const unsigned char *text, size_t length)
{
  return strlen (word) == length && memcmp (word, text, length) == 0;
}

static guint
find_word (const Keyword *words, const unsigned char *text, size_t length)
{
  for (; words->word != NULL; words++)
    if (is_word (words->word, text, length))
      break;
  return words->key;
}

static guint
event_key (const unsigned char *text, size_t length)
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

static guint
argument_key (const unsigned char *text, size_t length)
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

/* ---- events ---- */

static const TraceArguments no_arguments = {
  .stream = -1,
  .in_elements = -1,
  .out_elements = -1,
  .bytes = -1,
  .begun_ps = SIM_TIME_NONE,
  .ended_ps = SIM_TIME_NONE,
  .waited_ps = SIM_TIME_NONE,
  .lane = -1,
  .op = -1,
  .phase = -1,
  .unit = -1,
  .micro_batch = -1,
};

static gsize
taken (const TraceBuilder *builder)
{
  return yajl_get_bytes_consumed (builder->json);
}

static void
begin_event (TraceBuilder *builder)
{
  TraceEvent *event = &builder->event;

  event->phase = '\0';
  event->category = CATEGORY_OTHER;
  event->name[0] = '\0';
  event->name_hash = 0;
  event->annotation = ANNOTATION_NONE;
  event->has_category = event->has_pid = event->has_start = event->has_duration = FALSE;
  event->pid = event->tid = 0;
  event->duration = (TraceTime){ 0, 0 };
  builder->has_arguments = FALSE;
  builder->begun_here = TRUE;
  builder->event_begin = taken (builder);
  builder->place = AT_EVENT;
}

static gboolean
is_wanted (const TraceEvent *event)
{
  if (event->phase != 'X' || !event->has_start)
    return FALSE;
  switch (event->category)
    {
    case CATEGORY_OTHER:
      return FALSE;
    case CATEGORY_CPU:
    case CATEGORY_GPU_ANNOTATION:
      return event->annotation != ANNOTATION_NONE;
    default:
      return TRUE;
    }
}

static void
deliver (TraceBuilder *builder)
{
  if (builder->event.phase == '\0')
    return;
  builder->faults->n_events++;
  builder->n_delivered++;
  if (!is_wanted (&builder->event))
    return;
  if (!builder->has_arguments)
    builder->event.arguments = no_arguments;
  builder->handlers->event (&builder->event, builder->handlers->data);
}

static void
end_event (TraceBuilder *builder)
{
  deliver (builder);
  builder->place = AT_EVENTS;
  builder->ended_here = TRUE;
  builder->begun_here = FALSE;
  builder->event_end = taken (builder);
}

gboolean
trace_builder_deliver_partial (TraceBuilder *builder)
{
  const TraceEvent *event = &builder->event;

  if ((builder->place != AT_EVENT && builder->place != AT_ARGUMENTS) || !event->has_start
      || !event->has_duration || !event->has_category || event->name[0] == '\0')
    return FALSE;
  deliver (builder);
  return TRUE;
}

/* Arguments cost most of the time: only where somebody will look at them. The rare event
 * whose category comes after them is not told apart here. */
static gboolean
wants_arguments (const TraceEvent *event)
{
  if (!event->has_category)
    return TRUE;
  switch (event->category)
    {
    case CATEGORY_OTHER:
      return FALSE;
    case CATEGORY_CPU:
      return event->annotation == ANNOTATION_COMM || event->annotation == ANNOTATION_CPU_WORK
             || event->name[0] == '\0';
    case CATEGORY_GPU_ANNOTATION:
      return FALSE;
    default:
      return TRUE;
    }
}

/* ---- opening and closing ---- */

static void
open_map (TraceBuilder *builder)
{
  switch (builder->place)
    {
    case AT_ROOT:
      builder->place = AT_TOP;
      return;
    case AT_TOP:
      if (builder->key == KEY_DISTRIBUTED)
        builder->place = AT_DISTRIBUTED;
      else if (builder->key == KEY_FACTS)
        builder->place = AT_FACTS;
      else
        builder->skip = 1;
      return;
    case AT_DEVICES:
      builder->place = AT_DEVICE;
      builder->header->n_devices++;
      return;
    case AT_EVENTS:
      begin_event (builder);
      return;
    case AT_EVENT:
      if (builder->key == KEY_ARGUMENTS && wants_arguments (&builder->event))
        {
          builder->event.arguments = no_arguments;
          builder->has_arguments = TRUE;
          builder->place = AT_ARGUMENTS;
          return;
        }
      break;
    default:
      break;
    }
  builder->skip = 1;
}

static int
on_map_start (void *data)
{
  TraceBuilder *builder = data;

  if (builder->skip > 0)
    builder->skip++;
  else
    open_map (builder);
  return 1;
}

static int
on_array_start (void *data)
{
  TraceBuilder *builder = data;

  if (builder->skip > 0)
    builder->skip++;
  else if (builder->place == AT_ROOT || (builder->place == AT_TOP && builder->key == KEY_EVENTS))
    {
      builder->root_is_array = builder->place == AT_ROOT;
      builder->header->has_events = TRUE;
      builder->place = AT_EVENTS;
    }
  else if (builder->place == AT_TOP && builder->key == KEY_DEVICES)
    builder->place = AT_DEVICES;
  else
    builder->skip = 1;
  return 1;
}

static int
on_end (void *data)
{
  TraceBuilder *builder = data;

  if (builder->skip > 0)
    {
      builder->skip--;
      return 1;
    }
  switch (builder->place)
    {
    case AT_ARGUMENTS:
      builder->place = AT_EVENT;
      break;
    case AT_EVENT:
      end_event (builder);
      break;
    case AT_DEVICE:
      builder->place = AT_DEVICES;
      break;
    case AT_EVENTS:
      builder->place = builder->root_is_array ? AT_END : AT_TOP;
      break;
    case AT_TOP:
      builder->place = AT_END;
      break;
    default:
      builder->place = AT_TOP;
      break;
    }
  return 1;
}

/* Events are told by it, where they must be found in broken text. */
static void
learn_first_key (TraceBuilder *builder, const unsigned char *text, size_t length)
{
  const size_t room = sizeof builder->first_key - strlen ("\"\"") - 1;

  builder->is_at_first_key = FALSE;
  if (length > room)
    return;
  g_snprintf (builder->first_key, sizeof builder->first_key, "\"%.*s\"", (int)length, text);
}

static int
on_key (void *data, const unsigned char *text, size_t length)
{
  TraceBuilder *builder = data;

  if (builder->skip > 0)
    return 1;
  switch (builder->place)
    {
    case AT_ARGUMENTS:
      builder->key = argument_key (text, length);
      break;
    case AT_EVENT:
      builder->key = event_key (text, length);
      if (builder->is_at_first_key)
        learn_first_key (builder, text, length);
      break;
    case AT_TOP:
      builder->key = find_word (top_words, text, length);
      if (builder->key == KEY_GRAPH)
        builder->header->is_execution_trace = TRUE;
      if (builder->header->first_member == NULL)
        builder->header->first_member = g_strndup ((const char *)text, length);
      break;
    case AT_DISTRIBUTED:
      builder->key = find_word (distributed_words, text, length);
      break;
    case AT_DEVICE:
      builder->key = find_word (device_words, text, length);
      break;
    case AT_FACTS:
      builder->key = find_word (fact_words, text, length);
      break;
    default:
      break;
    }
  return 1;
}

/* ---- values of events ---- */

static void
take_time (const char *text, size_t length, TraceTime *time, gboolean *has)
{
  if (trace_time_parse (text, length, time))
    *has = TRUE;
}

static void
take_exact (const char *text, size_t length, gint64 *ps)
{
  TraceTime time;

  if (trace_time_parse (text, length, &time))
    trace_time_since (&time, 0, ps);
}

/* Kernels that differ only deep inside a template's arguments may share it. */
static guint32
hash_name (const char *text, size_t length)
{
  const gsize part = 48;
  guint32 hash = (guint32)length * 2654435761u;

  for (gsize i = 0; i < length; i = i + 1 == part && length > 2 * part ? length - part : i + 1)
    hash = (hash ^ (guchar)text[i]) * 16777619u;
  return hash;
}

static void
take_name (TraceEvent *event, const char *text, size_t length)
{
  const gsize kept = MIN (length, TRACE_NAME_SIZE - 1);

  if (event->has_category && event->category == CATEGORY_OTHER)
    return;
  memcpy (event->name, text, kept);
  event->name[kept] = '\0';
  if (event->category == CATEGORY_KERNEL)
    event->name_hash = hash_name (text, length);
  else if (event->category == CATEGORY_CPU || event->category == CATEGORY_GPU_ANNOTATION)
    event->annotation = trace_annotation (event->name);
}

static void
take_category (TraceEvent *event, const char *text, size_t length)
{
  event->category = trace_category (text, length);
  event->has_category = TRUE;
  if (event->name[0] != '\0')
    take_name (event, event->name, strlen (event->name));
}

/* "7", or "stream 7" as of 2021. */
static void
take_tid (TraceEvent *event, const char *text, size_t length)
{
  if (length > strlen ("stream ") && memcmp (text, "stream ", strlen ("stream ")) == 0)
    trace_integer_parse (text + strlen ("stream "), length - strlen ("stream "), &event->tid);
  else
    trace_integer_parse (text, length, &event->tid);
}

/* Numbers, which some writers put between quotes. */
static void
take_event_number (TraceBuilder *builder, const char *text, size_t length)
{
  TraceEvent *event = &builder->event;

  switch (builder->key)
    {
    case KEY_PID:
      event->has_pid = trace_integer_parse (text, length, &event->pid);
      break;
    case KEY_TID:
      take_tid (event, text, length);
      break;
    case KEY_START:
      take_time (text, length, &event->start, &event->has_start);
      break;
    case KEY_DURATION:
      take_time (text, length, &event->duration, &event->has_duration);
      break;
    default:
      break;
    }
}

static void
take_event_text (TraceBuilder *builder, const char *text, size_t length)
{
  TraceEvent *event = &builder->event;

  switch (builder->key)
    {
    case KEY_PHASE:
      event->phase = length == 1 ? text[0] : '?';
      break;
    case KEY_CATEGORY:
      take_category (event, text, length);
      break;
    case KEY_NAME:
      take_name (event, text, length);
      break;
    default:
      take_event_number (builder, text, length);
      break;
    }
}

/* ---- values of arguments ---- */

static void
take_argument_number (TraceBuilder *builder, const char *text, size_t length)
{
  TraceArguments *arguments = &builder->event.arguments;

  switch (builder->key)
    {
    case ARGUMENT_CORRELATION:
      trace_integer_parse (text, length, &arguments->correlation);
      break;
    case ARGUMENT_STREAM:
      trace_integer_parse (text, length, &arguments->stream);
      break;
    case ARGUMENT_IN_ELEMENTS:
      trace_integer_parse (text, length, &arguments->in_elements);
      break;
    case ARGUMENT_OUT_ELEMENTS:
      trace_integer_parse (text, length, &arguments->out_elements);
      break;
    case ARGUMENT_GROUP_SIZE:
      trace_integer_parse (text, length, &arguments->group_size);
      break;
    case ARGUMENT_BYTES:
      trace_integer_parse (text, length, &arguments->bytes);
      break;
    case ARGUMENT_MICRO_BATCH:
      if (trace_integer_parse (text, length, &arguments->micro_batch)
          && (arguments->micro_batch < 0 || arguments->micro_batch > G_MAXUINT16))
        arguments->micro_batch = -1;
      break;
    case ARGUMENT_BEGAN:
      take_exact (text, length, &arguments->begun_ps);
      break;
    case ARGUMENT_ENDED:
      take_exact (text, length, &arguments->ended_ps);
      break;
    case ARGUMENT_WAITED:
      take_exact (text, length, &arguments->waited_ps);
      break;
    default:
      break;
    }
}

static guint32
hash_text (guint32 hash, const char *text, size_t length)
{
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (guchar)text[i]) * 16777619u;
  return hash == 0 ? 1 : hash;
}

/* As timeline_unit_name() writes it; -1 for anything else. */
static gint64
find_unit (const char *text, size_t length)
{
  char name[32];
  guint32 unit;

  if (length >= sizeof name)
    return -1;
  memcpy (name, text, length);
  name[length] = '\0';
  return timeline_unit_parse (name, &unit) ? (gint64)unit : -1;
}

static void
take_argument_text (TraceBuilder *builder, const char *text, size_t length)
{
  TraceArguments *arguments = &builder->event.arguments;
  const unsigned char *bytes = (const unsigned char *)text;
  g_autofree char *copy = NULL;

  switch (builder->key)
    {
    case ARGUMENT_OP:
      arguments->op = (int)find_word (op_words, bytes, length);
      break;
    case ARGUMENT_LANE:
      arguments->lane = (int)find_word (lane_words, bytes, length);
      break;
    case ARGUMENT_PHASE:
      arguments->phase = (int)find_word (phase_words, bytes, length);
      break;
    case ARGUMENT_UNIT:
      arguments->unit = find_unit (text, length);
      break;
    case ARGUMENT_DTYPE:
      copy = g_strndup (text, length);
      arguments->dtype_bytes = trace_dtype_bytes (copy);
      break;
    case ARGUMENT_COLLECTIVE:
      copy = g_strndup (text, length);
      arguments->collective = trace_named_collective (copy);
      break;
    case ARGUMENT_GROUP_NAME:
    case ARGUMENT_GROUP_RANKS:
      arguments->group = hash_text (arguments->group + builder->key, text, length);
      break;
    default:
      take_argument_number (builder, text, length);
      break;
    }
}

/* ---- values around the events ---- */

static double
to_double (const char *text, size_t length)
{
  g_autofree char *copy = g_strndup (text, length);

  return g_ascii_strtod (copy, NULL);
}

static void
take_fact (TraceBuilder *builder, const char *text, size_t length)
{
  TraceHeader *header = builder->header;
  double *const places[] = {
    [FACT_N_RANKS] = &header->n_ranks,
    [FACT_PEAK_FLOPS] = &header->peak_flops,
    [FACT_TOKENS] = &header->tokens_per_step,
    [FACT_MODEL_FLOPS] = &header->model_flops_per_token,
    [FACT_HARDWARE_FLOPS] = &header->hardware_flops_per_token,
    [FACT_STEP_ERROR] = &header->step_error,
    [FACT_CAPACITY] = &header->capacity_bytes,
    [FACT_ALLOCATED] = &header->peak_allocated_bytes,
    [FACT_RESERVED] = &header->peak_reserved_bytes,
    [FACT_PEAK_PHASE] = &header->peak_phase,
  };

  if (builder->key > FACT_NONE && builder->key < G_N_ELEMENTS (places))
    *places[builder->key] = to_double (text, length);
}

static void
take_number (TraceBuilder *builder, const char *text, size_t length)
{
  switch (builder->place)
    {
    case AT_ARGUMENTS:
      take_argument_number (builder, text, length);
      break;
    case AT_EVENT:
      take_event_number (builder, text, length);
      break;
    case AT_DISTRIBUTED:
      if (builder->key == KEY_RANK)
        trace_integer_parse (text, length, &builder->header->rank);
      else if (builder->key == KEY_WORLD_SIZE)
        trace_integer_parse (text, length, &builder->header->world_size);
      break;
    case AT_FACTS:
      take_fact (builder, text, length);
      break;
    default:
      break;
    }
}

static void
set_text (char **place, const char *text, size_t length)
{
  if (*place == NULL)
    *place = g_strndup (text, length);
}

static void
take_text (TraceBuilder *builder, const char *text, size_t length)
{
  TraceHeader *header = builder->header;

  switch (builder->place)
    {
    case AT_ARGUMENTS:
      take_argument_text (builder, text, length);
      break;
    case AT_EVENT:
      take_event_text (builder, text, length);
      break;
    case AT_TOP:
      if (builder->key == KEY_GENERATOR)
        set_text (&header->generator, text, length);
      else if (builder->key == KEY_VARIANT)
        set_text (&header->variant, text, length);
      break;
    case AT_DEVICE:
      if (builder->key == KEY_DEVICE_NAME)
        set_text (&header->gpu, text, length);
      break;
    case AT_FACTS:
      if (builder->key == FACT_REASON)
        set_text (&header->reason, text, length);
      else if (builder->key == FACT_SCENARIO)
        set_text (&header->scenario, text, length);
      else if (builder->key == FACT_SHA256)
        set_text (&header->scenario_sha256, text, length);
      break;
    default:
      break;
    }
}

#define MAX_SAFE_DIGITS 18

static gboolean
is_beyond_64 (const char *text, size_t length)
{
  gint64 value;

  for (size_t i = 0; i < length; i++)
    if (text[i] == '.' || text[i] == 'e' || text[i] == 'E')
      return FALSE;
  return !trace_integer_parse (text, length, &value);
}

static int
on_number (void *data, const char *text, size_t length)
{
  TraceBuilder *builder = data;

  if (length > MAX_SAFE_DIGITS && is_beyond_64 (text, length))
    builder->faults->n_beyond_64++;
  if (builder->skip == 0)
    take_number (builder, text, length);
  return 1;
}

static int
on_string (void *data, const unsigned char *text, size_t length)
{
  TraceBuilder *builder = data;

  if (builder->checks_utf8 && !g_utf8_validate ((const char *)text, (gssize)length, NULL))
    builder->faults->n_invalid_utf8++;
  if (builder->skip == 0)
    take_text (builder, (const char *)text, length);
  return 1;
}

static int
on_other (void *data)
{
  (void)data;
  return 1;
}

static int
on_boolean (void *data, int value)
{
  (void)data;
  (void)value;
  return 1;
}

const yajl_callbacks trace_builder_callbacks = {
  .yajl_null = on_other,
  .yajl_boolean = on_boolean,
  .yajl_number = on_number,
  .yajl_string = on_string,
  .yajl_start_map = on_map_start,
  .yajl_map_key = on_key,
  .yajl_end_map = on_end,
  .yajl_start_array = on_array_start,
  .yajl_end_array = on_end,
};

void
trace_builder_init (TraceBuilder *builder, const TraceHandlers *handlers, TraceHeader *header,
                    TraceFaults *faults)
{
  *builder = (TraceBuilder){ .handlers = handlers,
                             .header = header,
                             .faults = faults,
                             .first_key = "\"ph\"",
                             .is_at_first_key = TRUE };
}
