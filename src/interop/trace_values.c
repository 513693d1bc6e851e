#include <config.h>

#include "interop/trace_values.h"

#include <string.h>

#include "interop/trace_keys.h"

const TraceArguments trace_no_arguments = {
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
void
trace_take_event_number (TraceEvent *event, guint key, const char *text, size_t length)
{
  switch (key)
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

void
trace_take_event_text (TraceEvent *event, guint key, const char *text, size_t length)
{
  switch (key)
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
      trace_take_event_number (event, key, text, length);
      break;
    }
}

/* ---- words of labels ---- */

#define NOT_FOUND G_MAXUINT /* -1 where labels are kept */

static const TraceWord op_words[] = {
#define OP(name, text, is_collective) { text, TIMELINE_##name },
#include "timeline/ops.def"
#undef OP
  { NULL, NOT_FOUND },
};

static const TraceWord lane_words[] = {
#define LANE(name, text) { text, LANE_##name },
#include "timeline/lanes.def"
#undef LANE
  { NULL, NOT_FOUND },
};

static const TraceWord phase_words[] = {
#define PHASE(name, text) { text, PHASE_##name },
#include "timeline/phases.def"
#undef PHASE
  { NULL, NOT_FOUND },
};

/* ---- values of arguments ---- */

void
trace_take_argument_number (TraceArguments *arguments, guint key, const char *text, size_t length)
{
  switch (key)
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

void
trace_take_argument_text (TraceArguments *arguments, guint key, const char *text, size_t length)
{
  const unsigned char *bytes = (const unsigned char *)text;
  g_autofree char *copy = NULL;

  switch (key)
    {
    case ARGUMENT_OP:
      arguments->op = (int)trace_find_word (op_words, bytes, length);
      break;
    case ARGUMENT_LANE:
      arguments->lane = (int)trace_find_word (lane_words, bytes, length);
      break;
    case ARGUMENT_PHASE:
      arguments->phase = (int)trace_find_word (phase_words, bytes, length);
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
      arguments->group = hash_text (arguments->group + key, text, length);
      break;
    default:
      trace_take_argument_number (arguments, key, text, length);
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

void
trace_take_fact_number (TraceHeader *header, guint key, const char *text, size_t length)
{
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

  if (key > FACT_NONE && key < G_N_ELEMENTS (places))
    *places[key] = to_double (text, length);
}

static void
set_text (char **place, const char *text, size_t length)
{
  if (*place == NULL)
    *place = g_strndup (text, length);
}

void
trace_take_fact_text (TraceHeader *header, guint key, const char *text, size_t length)
{
  if (key == FACT_REASON)
    set_text (&header->reason, text, length);
  else if (key == FACT_SCENARIO)
    set_text (&header->scenario, text, length);
  else if (key == FACT_SHA256)
    set_text (&header->scenario_sha256, text, length);
}

void
trace_take_top_text (TraceHeader *header, guint key, const char *text, size_t length)
{
  if (key == KEY_GENERATOR)
    set_text (&header->generator, text, length);
  else if (key == KEY_VARIANT)
    set_text (&header->variant, text, length);
}

void
trace_take_device_text (TraceHeader *header, guint key, const char *text, size_t length)
{
  if (key == KEY_DEVICE_NAME)
    set_text (&header->gpu, text, length);
}

void
trace_take_distributed_number (TraceHeader *header, guint key, const char *text, size_t length)
{
  if (key == KEY_RANK)
    trace_integer_parse (text, length, &header->rank);
  else if (key == KEY_WORLD_SIZE)
    trace_integer_parse (text, length, &header->world_size);
}
