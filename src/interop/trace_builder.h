/* From the tokens of a trace's JSON to events: knows where in the file each token
 * stands. For trace_parser.c alone. */
#pragma once

#include <yajl/yajl_parse.h>

#include "interop/trace_parser.h"

typedef enum
{
  AT_ROOT, /* before anything */
  AT_TOP,  /* in the outermost object */
  AT_DISTRIBUTED,
  AT_FACTS,
  AT_DEVICES,
  AT_DEVICE,
  AT_EVENTS, /* between events */
  AT_EVENT,
  AT_ARGUMENTS,
  AT_END
} TracePlace;

typedef struct
{
  const TraceHandlers *handlers;
  TraceHeader *header;
  TraceFaults *faults;
  TracePlace place;
  guint skip; /* levels of what is not read */
  guint key;  /* of the value to come; its enum depends on the place */
  gboolean root_is_array;
  gboolean checks_utf8; /* the data at hand have bytes that are not ASCII */
  gboolean has_arguments;
  TraceEvent event;
  /* Where it stands, for repairs: bytes of the text at hand that yajl had taken, behind the
   * opening brace of the last event and behind the last event. */
  gsize event_begin, event_end;
  gboolean begun_here, ended_here; /* in the text at hand */
  gboolean is_at_first_key;
  char first_key[16]; /* of an event, with its quotes */
  guint n_delivered;
  yajl_handle json; /* whose callbacks these are */
} TraceBuilder;

extern const yajl_callbacks trace_builder_callbacks;

void trace_builder_init (TraceBuilder *builder, const TraceHandlers *handlers, TraceHeader *header,
                         TraceFaults *faults);

/* Hands the event at hand on as far as it was read. FALSE where that is not enough. */
gboolean trace_builder_deliver_partial (TraceBuilder *builder);
