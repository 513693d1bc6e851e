/* The bytes of a trace: a plain or gzipped file, or standard input. */
#pragma once

#include <glib.h>

typedef struct _TraceSource TraceSource;

/* "-" is standard input. Sets a G_FILE_ERROR. */
TraceSource *trace_source_open (const char *path, GError **error);
void trace_source_close (TraceSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceSource, trace_source_close)

/* How many bytes it put into @buffer; 0 at the end. What can no longer be read or
 * unpacked ends the data as well, and trace_source_fault() tells it. */
gsize trace_source_read (TraceSource *source, guchar *buffer, gsize size);

/* Why the data ended before the file did: "is damaged: incorrect data check"; or NULL. */
const char *trace_source_fault (const TraceSource *source);
