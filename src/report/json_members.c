#include <config.h>

#include "report/json_members.h"

#include <math.h>

void
json_member_text (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  if (value != NULL)
    json_builder_add_string_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

void
json_member_number (JsonBuilder *builder, const char *name, double value)
{
  json_builder_set_member_name (builder, name);
  if (isfinite (value))
    json_builder_add_double_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

void
json_member_count (JsonBuilder *builder, const char *name, double value)
{
  if (isfinite (value) && value == trunc (value) && fabs (value) < 0x1p63)
    json_member_whole (builder, name, (gint64)value);
  else
    json_member_number (builder, name, value);
}

void
json_member_whole (JsonBuilder *builder, const char *name, gint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

char *
json_members_to_text (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autofree char *text = json_to_string (root, TRUE);

  return g_strconcat (text, "\n", NULL);
}
