/* Rows of timeline.csv, for those whose timelines come piece by piece. */
#pragma once

#include "report/csv.h"
#include "timeline/timeline.h"

#define TIMELINE_CSV_HEADER "variant,rank,lane,op,unit,phase,micro_batch,start_us,end_us,bytes"

/* Times are those since @origin. */
void timeline_csv_add (Csv *csv, const char *variant, guint rank, SimTime origin,
                       const TimelineRecord *record);

/* A timeline.csv in the making, which takes its place in the folder whole. */
typedef struct _TimelineStream TimelineStream;

/* Makes the folder where it is not there. NULL and a G_FILE_ERROR where it cannot be written. */
TimelineStream *timeline_stream_open (const char *folder, GError **error);
/* All records of @window but those carried over. */
void timeline_stream_add (TimelineStream *stream, const char *variant, SimTime origin,
                          const Timeline *window);
/* Frees @stream. FALSE and a G_FILE_ERROR where not all could be written: no file then. */
gboolean timeline_stream_close (TimelineStream *stream, GError **error);
/* Frees @stream, and leaves no file. */
void timeline_stream_discard (TimelineStream *stream);
