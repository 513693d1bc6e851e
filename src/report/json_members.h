/* Members of JSON objects as every result writes them, and the text of the whole. */
#pragma once

#include <json-glib/json-glib.h>

/* NULL becomes null. */
void json_member_text (JsonBuilder *builder, const char *name, const char *value);
/* What is not finite becomes null. */
void json_member_number (JsonBuilder *builder, const char *name, double value);
/* Counts and bytes: without a decimal point where they are whole, as they mostly are. */
void json_member_count (JsonBuilder *builder, const char *name, double value);
void json_member_whole (JsonBuilder *builder, const char *name, gint64 value);

/* The document, indented, with a line's end; the caller frees it. */
char *json_members_to_text (JsonBuilder *builder);
