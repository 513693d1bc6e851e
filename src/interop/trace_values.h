/* Values of a trace's JSON, put where they belong: into the event at hand, its arguments or
 * the header. What cannot be read as its key wants it is left out. */
#pragma once

#include "interop/trace_parser.h"

extern const TraceArguments trace_no_arguments;

/* @key: KEY_… or ARGUMENT_… of interop/trace_keys.h; @text is not terminated. Numbers may stand
 * between quotes, so that texts are tried as numbers too. */
void trace_take_event_text (TraceEvent *event, guint key, const char *text, size_t length);
void trace_take_event_number (TraceEvent *event, guint key, const char *text, size_t length);
void trace_take_argument_text (TraceArguments *arguments, guint key, const char *text,
                               size_t length);
void trace_take_argument_number (TraceArguments *arguments, guint key, const char *text,
                                 size_t length);

/* Of the outermost object, distributedInfo, a device and fsdpsim's own facts (FACT_…). */
void trace_take_top_text (TraceHeader *header, guint key, const char *text, size_t length);
void trace_take_distributed_number (TraceHeader *header, guint key, const char *text,
                                    size_t length);
void trace_take_device_text (TraceHeader *header, guint key, const char *text, size_t length);
void trace_take_fact_text (TraceHeader *header, guint key, const char *text, size_t length);
void trace_take_fact_number (TraceHeader *header, guint key, const char *text, size_t length);
