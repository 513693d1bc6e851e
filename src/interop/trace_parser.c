/* Feeds yajl piece by piece. At an error the text from the event's beginning to the
 * next event is repaired if it can be, and a new yajl goes on there. */
#include <config.h>

#include <string.h>

#include "interop/trace_builder.h"
#include "interop/trace_repair.h"

#define PIECE_BYTES        (256 * 1024)
#define MAX_BROKEN         (1024 * 1024) /* of an event that is repaired */
#define SYNC_BYTES         64            /* a brace, white space and the first key fit */
#define PIECES_TO_PROGRESS 64
#define PREFIX_OF_OBJECT   "{\"traceEvents\":["
#define PREFIX_OF_ARRAY    "["

G_DEFINE_QUARK (fsdpsim_trace_error, trace_error)

typedef struct
{
  TraceBuilder builder;
  yajl_handle json;
  GString *broken;      /* the event at hand, as far as it stood in earlier pieces */
  gboolean is_scanning; /* for the next event */
  guint64 piece_begin;  /* offset of the text at hand */
  char *first_error;    /* of the JSON, or NULL */
} Parser;

static void
start_json (Parser *parser, const char *prefix)
{
  if (parser->json != NULL)
    yajl_free (parser->json);
  parser->json = yajl_alloc (&trace_builder_callbacks, NULL, &parser->builder);
  yajl_config (parser->json, yajl_dont_validate_strings, 1);
  yajl_config (parser->json, yajl_allow_trailing_garbage, 1);
  parser->builder.json = parser->json;
  parser->builder.skip = 0;
  if (prefix == NULL)
    return;
  parser->builder.place = AT_ROOT;
  yajl_parse (parser->json, (const unsigned char *)prefix, strlen (prefix));
}

static gboolean
is_in_event (const Parser *parser)
{
  return parser->builder.place == AT_EVENT || parser->builder.place == AT_ARGUMENTS;
}

static void
go_on_between_events (Parser *parser)
{
  start_json (parser, parser->builder.root_is_array ? PREFIX_OF_ARRAY : PREFIX_OF_OBJECT);
}

/* ---- bytes that are not ASCII ---- */

static gboolean
has_high_bytes (const char *text, gsize length)
{
  guint64 any = 0;
  gsize i = 0;

  for (; i + 32 <= length; i += 32)
    {
      guint64 words[4];

      memcpy (words, text + i, sizeof words);
      any |= words[0] | words[1] | words[2] | words[3];
    }
  for (; i < length; i++)
    any |= (guchar)text[i];
  return (any & G_GUINT64_CONSTANT (0x8080808080808080)) != 0;
}

/* ---- finding the next event ---- */

typedef enum
{
  SYNC_NO,
  SYNC_YES,
  SYNC_UNDECIDED /* the text ends too early */
} Sync;

/* Whether an event begins at the brace @at: all of a file open with the same key. */
static Sync
is_event (const Parser *parser, const char *at, const char *end)
{
  const char *key = parser->builder.first_key;

  for (at++; at < end && g_ascii_isspace (*at); at++)
    ;
  for (guint i = 0; key[i] != '\0'; i++, at++)
    if (at == end)
      return SYNC_UNDECIDED;
    else if (*at != key[i])
      return SYNC_NO;
  return SYNC_YES;
}

/* Offset of the next event's brace; @length where there is none, and then *held is from
 * where that cannot be told yet. */
static gsize
find_event (const Parser *parser, const char *text, gsize length, gsize *held)
{
  const char *end = text + length;

  *held = length;
  for (const char *at = text; (at = memchr (at, '{', (gsize)(end - at))) != NULL; at++)
    {
      const Sync sync = is_event (parser, at, end);

      if (sync == SYNC_YES)
        return (gsize)(at - text);
      if (sync == SYNC_UNDECIDED && end - at < SYNC_BYTES)
        {
          *held = (gsize)(at - text);
          break;
        }
    }
  return length;
}

/* ---- a broken event ---- */

static void
keep_broken (Parser *parser, const char *text, gsize length)
{
  if (parser->broken->len + length <= MAX_BROKEN)
    g_string_append_len (parser->broken, text, (gssize)length);
}

/* TRUE where the repaired text held an event. */
static gboolean
deliver_repaired (Parser *parser)
{
  GString *text = trace_repair (parser->broken->str, parser->broken->len);
  const guint n_delivered = parser->builder.n_delivered;

  go_on_between_events (parser);
  yajl_parse (parser->json, (const unsigned char *)text->str, text->len);
  g_string_free (text, TRUE);
  return parser->builder.n_delivered > n_delivered;
}

/* What was scanned up to the next event, or to the end of the file. */
static void
settle_broken (Parser *parser)
{
  TraceFaults *faults = parser->builder.faults;
  const TraceBuilder before = parser->builder;

  if (parser->broken->len > 0 && deliver_repaired (parser))
    faults->n_repaired++;
  else
    {
      parser->builder.event = before.event;
      parser->builder.place = before.place;
      parser->builder.has_arguments = before.has_arguments;
      if (trace_builder_deliver_partial (&parser->builder))
        faults->n_partial++;
      else
        faults->n_lost++;
    }
  g_string_truncate (parser->broken, 0);
  go_on_between_events (parser);
  parser->is_scanning = FALSE;
}

/* Offset behind what was scanned of @text; the rest waits for more text. */
static gsize
scan (Parser *parser, const char *text, gsize length, gboolean is_last)
{
  gsize held;
  const gsize next = find_event (parser, text, length, &held);
  const gsize used = next < length ? next : is_last ? length : held;

  keep_broken (parser, text, used);
  if (next < length)
    settle_broken (parser);
  return used;
}

/* ---- feeding ---- */

/* yajl's first line: "lexical error: invalid char in json text." */
static char *
json_error (const Parser *parser)
{
  unsigned char *message = yajl_get_error (parser->json, 0, NULL, 0);
  char *text = g_strstrip (g_strdup ((const char *)message));

  yajl_free_error (parser->json, message);
  if (g_str_has_suffix (text, "."))
    text[strlen (text) - 1] = '\0';
  return text;
}

/* Offset in @text from which the next event is looked for. */
static gsize
begin_scanning (Parser *parser, gsize length)
{
  TraceBuilder *builder = &parser->builder;
  const gsize consumed = MIN (yajl_get_bytes_consumed (parser->json), length);

  if (parser->first_error == NULL)
    {
      builder->faults->first_fault = parser->piece_begin + consumed;
      parser->first_error = json_error (parser);
    }
  parser->is_scanning = TRUE;
  if (is_in_event (parser))
    {
      if (!builder->begun_here)
        return 0;
      g_string_assign (parser->broken, "{");
      return builder->event_begin;
    }
  g_string_truncate (parser->broken, 0);
  if (builder->place == AT_EVENTS)
    return builder->ended_here ? builder->event_end : 0;
  return consumed;
}

/* The event at hand may turn out to be broken in the next piece. */
static void
keep_open_event (Parser *parser, const char *text, gsize length)
{
  const TraceBuilder *builder = &parser->builder;

  if (!is_in_event (parser))
    g_string_truncate (parser->broken, 0);
  else if (builder->begun_here)
    {
      g_string_assign (parser->broken, "{");
      keep_broken (parser, text + builder->event_begin, length - builder->event_begin);
    }
  else
    keep_broken (parser, text, length);
}

static gsize
feed (Parser *parser, const char *text, gsize length)
{
  parser->builder.begun_here = parser->builder.ended_here = FALSE;
  if (yajl_parse (parser->json, (const unsigned char *)text, length) != yajl_status_ok)
    return begin_scanning (parser, length);
  keep_open_event (parser, text, length);
  return length;
}

static gboolean
is_hopeless (const Parser *parser)
{
  return parser->is_scanning && parser->builder.place == AT_ROOT;
}

/* How much of @text it took; the rest waits for more. */
static gsize
take_piece (Parser *parser, const char *text, gsize length, gboolean is_last)
{
  gsize used = 0;

  while (used < length && !is_hopeless (parser))
    {
      const gsize left = length - used;
      gsize step;

      if (!parser->is_scanning)
        step = feed (parser, text + used, left);
      else
        {
          step = scan (parser, text + used, left, is_last);
          if (step == 0 && parser->is_scanning)
            break;
        }
      used += step;
      parser->piece_begin += step;
    }
  return used;
}

static void
read_pieces (Parser *parser, TraceSource *source)
{
  const TraceHandlers *handlers = parser->builder.handlers;
  TraceFaults *faults = parser->builder.faults;
  g_autofree char *buffer = g_malloc (PIECE_BYTES + SYNC_BYTES);
  gsize held = 0; /* at the front of the buffer, from the piece before */

  for (guint n_pieces = 1;; n_pieces++)
    {
      const gsize n_read = trace_source_read (source, (guchar *)buffer + held, PIECE_BYTES);
      const gsize length = held + n_read;
      gsize used;

      faults->n_bytes += n_read;
      parser->builder.checks_utf8 = has_high_bytes (buffer + held, n_read);
      used = take_piece (parser, buffer, length, n_read == 0);
      if (n_read == 0 || is_hopeless (parser))
        break;
      held = length - used;
      memmove (buffer, buffer + used, held);
      if (handlers->progress != NULL && n_pieces % PIECES_TO_PROGRESS == 0)
        handlers->progress (faults->n_bytes, handlers->data);
    }
}

static void
finish (Parser *parser, TraceSource *source)
{
  TraceFaults *faults = parser->builder.faults;

  if (parser->is_scanning)
    {
      if (parser->builder.header->has_events)
        settle_broken (parser);
      return;
    }
  yajl_complete_parse (parser->json);
  faults->is_cut_off = parser->builder.place != AT_END || trace_source_fault (source) != NULL;
  if (is_in_event (parser))
    trace_builder_deliver_partial (&parser->builder);
}

/* ---- what is no trace ---- */

static gboolean
refuse (GError **error, const char *what)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_NO_TRACE, "is no profiler trace: %s", what);
  return FALSE;
}

static gboolean
is_trace (const Parser *parser, GError **error)
{
  const TraceHeader *header = parser->builder.header;
  const TraceFaults *faults = parser->builder.faults;
  g_autofree char *what = NULL;

  if (faults->n_events > 0)
    return TRUE;
  if (faults->n_bytes == 0)
    return refuse (error, "it is empty");
  if (header->is_execution_trace)
    return refuse (error, "it is an execution trace, a graph of operators without a timeline; "
                          "torch.profiler's export_chrome_trace() writes what is read here");
  if (parser->first_error != NULL)
    what = g_strdup_printf ("it is not JSON (%s)", parser->first_error);
  else if (header->has_events)
    return refuse (error, "it holds no events");
  else if (header->first_member != NULL)
    what = g_strdup_printf ("it has no \"traceEvents\"; its first member is \"%s\"",
                            header->first_member);
  else
    what = g_strdup ("it has no \"traceEvents\"");
  return refuse (error, what);
}

gboolean
trace_parse (TraceSource *source, const TraceHandlers *handlers, TraceHeader *header,
             TraceFaults *faults, GError **error)
{
  Parser parser = { .broken = g_string_new (NULL) };
  gboolean is_right;

  *header = (TraceHeader){ .rank = -1, .world_size = -1 };
  *faults = (TraceFaults){ 0 };
  trace_builder_init (&parser.builder, handlers, header, faults);
  start_json (&parser, NULL);
  read_pieces (&parser, source);
  finish (&parser, source);
  is_right = is_trace (&parser, error);
  yajl_free (parser.json);
  g_string_free (parser.broken, TRUE);
  g_free (parser.first_error);
  return is_right;
}

void
trace_header_clear (TraceHeader *header)
{
  g_clear_pointer (&header->gpu, g_free);
  g_clear_pointer (&header->generator, g_free);
  g_clear_pointer (&header->variant, g_free);
  g_clear_pointer (&header->first_member, g_free);
  g_clear_pointer (&header->reason, g_free);
  g_clear_pointer (&header->scenario, g_free);
  g_clear_pointer (&header->scenario_sha256, g_free);
}
