#include <config.h>

#include "interop/trace_builder.h"

#include <string.h>

#include "interop/trace_keys.h"
#include "interop/trace_values.h"

/* ---- events ---- */

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
    builder->event.arguments = trace_no_arguments;
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
          builder->event.arguments = trace_no_arguments;
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
      builder->key = trace_argument_key (text, length);
      break;
    case AT_EVENT:
      builder->key = trace_event_key (text, length);
      if (builder->is_at_first_key)
        learn_first_key (builder, text, length);
      break;
    case AT_TOP:
      builder->key = trace_top_key (text, length);
      if (builder->key == KEY_GRAPH)
        builder->header->is_execution_trace = TRUE;
      if (builder->header->first_member == NULL)
        builder->header->first_member = g_strndup ((const char *)text, length);
      break;
    case AT_DISTRIBUTED:
      builder->key = trace_distributed_key (text, length);
      break;
    case AT_DEVICE:
      builder->key = trace_device_key (text, length);
      break;
    case AT_FACTS:
      builder->key = trace_fact_key (text, length);
      break;
    default:
      break;
    }
  return 1;
}

/* ---- values ---- */

static void
take_number (TraceBuilder *builder, const char *text, size_t length)
{
  switch (builder->place)
    {
    case AT_ARGUMENTS:
      trace_take_argument_number (&builder->event.arguments, builder->key, text, length);
      break;
    case AT_EVENT:
      trace_take_event_number (&builder->event, builder->key, text, length);
      break;
    case AT_DISTRIBUTED:
      trace_take_distributed_number (builder->header, builder->key, text, length);
      break;
    case AT_FACTS:
      trace_take_fact_number (builder->header, builder->key, text, length);
      break;
    default:
      break;
    }
}

static void
take_text (TraceBuilder *builder, const char *text, size_t length)
{
  switch (builder->place)
    {
    case AT_ARGUMENTS:
      trace_take_argument_text (&builder->event.arguments, builder->key, text, length);
      break;
    case AT_EVENT:
      trace_take_event_text (&builder->event, builder->key, text, length);
      break;
    case AT_TOP:
      trace_take_top_text (builder->header, builder->key, text, length);
      break;
    case AT_DEVICE:
      trace_take_device_text (builder->header, builder->key, text, length);
      break;
    case AT_FACTS:
      trace_take_fact_text (builder->header, builder->key, text, length);
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
