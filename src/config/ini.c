#include <config.h>

#include "config/ini.h"

#include <string.h>

struct _IniFile
{
  char *name;
  GStringChunk *strings; /* holds every text below */
  GArray *sections;      /* IniSection */
  GArray *entries;       /* IniEntry */
};

/* One line while it is taken apart; [begin, end) is what is left of it. */
typedef struct
{
  const char *text;
  gsize begin;
  gsize end;
  guint number;
} Line;

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void
trim (Line *line)
{
  while (line->begin < line->end && is_blank (line->text[line->begin]))
    line->begin++;
  while (line->end > line->begin && is_blank (line->text[line->end - 1]))
    line->end--;
}

/* A '#' begins a comment at the line's start or after white space. */
static void
cut_comment (Line *line)
{
  for (gsize at = line->begin; at < line->end; at++)
    if (line->text[at] == '#' && (at == 0 || is_blank (line->text[at - 1])))
      {
        line->end = at;
        return;
      }
}

static Place
place_at (const IniFile *ini, const Line *line, gsize at)
{
  return (Place){
    .file = ini->name, .line = line->number, .column = (guint)at + 1, .text = line->text
  };
}

static const char *
keep (IniFile *ini, const char *text, gsize begin, gsize end)
{
  return g_string_chunk_insert_len (ini->strings, text + begin, (gssize)(end - begin));
}

/* "[name]". A broken one still opens a section, so that its keys are no further mistakes. */
static void
read_section (IniFile *ini, Line *line, Problems *problems)
{
  IniSection section = { .place = place_at (ini, line, line->begin), .first = ini->entries->len };
  const char *close = memchr (line->text + line->begin, ']', line->end - line->begin);
  Line inside = *line;

  if (close == NULL || close != line->text + line->end - 1)
    {
      Place place
          = place_at (ini, line, close == NULL ? line->end : (gsize)(close - line->text) + 1);

      problems_add (problems, &place, NULL, NULL,
                    close == NULL ? "expected ']' at the end of the section's name"
                                  : "unexpected text after ']'");
    }
  inside.begin++;
  if (close != NULL)
    inside.end = (gsize)(close - line->text);
  trim (&inside);
  section.name = keep (ini, line->text, inside.begin, inside.end);
  g_array_append_val (ini->sections, section);
}

/* "key = value" */
static void
read_entry (IniFile *ini, Line *line, Problems *problems)
{
  IniEntry entry = { .key_place = place_at (ini, line, line->begin) };
  const char *equals = memchr (line->text + line->begin, '=', line->end - line->begin);
  Line key = *line, value = *line;

  if (equals == NULL || equals == line->text + line->begin)
    {
      problems_add (problems, &entry.key_place, NULL, NULL,
                    equals == NULL ? "expected 'key = value' or '[section]'"
                                   : "expected a key before '='");
      return;
    }
  if (ini->sections->len == 0)
    {
      problems_add (problems, &entry.key_place, NULL, NULL, "a key before the first [section]");
      return;
    }
  key.end = (gsize)(equals - line->text);
  value.begin = key.end + 1;
  trim (&key);
  trim (&value);
  entry.value_place = place_at (ini, line, value.begin);
  entry.key = keep (ini, line->text, key.begin, key.end);
  entry.value = keep (ini, line->text, value.begin, value.end);
  g_array_append_val (ini->entries, entry);
  g_array_index (ini->sections, IniSection, ini->sections->len - 1).n_entries++;
}

static void
read_line (IniFile *ini, const char *text, gsize length, guint number, Problems *problems)
{
  Line line = { .number = number, .end = length };
  const char *invalid;

  if (length > 0 && text[length - 1] == '\r')
    line.end = --length;
  line.text = keep (ini, text, 0, length);
  if (!g_utf8_validate (line.text, (gssize)length, &invalid))
    {
      Place place = place_at (ini, &line, (gsize)(invalid - line.text));

      problems_add (problems, &place, NULL, NULL, "not UTF-8 text");
      return;
    }
  cut_comment (&line);
  trim (&line);
  if (line.begin == line.end)
    return;
  if (line.text[line.begin] == '[')
    read_section (ini, &line, problems);
  else
    read_entry (ini, &line, problems);
}

static void
read_lines (IniFile *ini, const char *text, gsize length, Problems *problems)
{
  const char *end = text + length;

  for (guint number = 1; text < end && !problems_are_enough (problems); number++)
    {
      const char *newline = memchr (text, '\n', (gsize)(end - text));
      const char *line_end = newline != NULL ? newline : end;

      read_line (ini, text, (gsize)(line_end - text), number, problems);
      text = newline != NULL ? newline + 1 : end;
    }
}

/* UTF-16 and binary files hold NUL bytes, at which a C string would end. */
static gboolean
holds_nul (const IniFile *ini, const char *text, gsize length, Problems *problems)
{
  const char *nul = memchr (text, '\0', length);
  Place place = { .file = ini->name, .line = 1, .column = 1 };

  if (nul == NULL)
    return FALSE;
  for (const char *at = text; at < nul; at++, place.column++)
    if (*at == '\n')
      {
        place.line++;
        place.column = 0;
      }
  problems_add (problems, &place, NULL, NULL,
                "a NUL byte: a binary file or UTF-16; expected UTF-8 text");
  return TRUE;
}

IniFile *
ini_parse (const char *name, const char *text, gsize length, Problems *problems)
{
  IniFile *ini = g_new0 (IniFile, 1);

  ini->name = g_strdup (name);
  ini->strings = g_string_chunk_new (4096);
  ini->sections = g_array_new (FALSE, FALSE, sizeof (IniSection));
  ini->entries = g_array_new (FALSE, FALSE, sizeof (IniEntry));
  if (length >= 3 && memcmp (text, "\xEF\xBB\xBF", 3) == 0)
    {
      text += 3;
      length -= 3;
    }
  if (length > 0 && !holds_nul (ini, text, length, problems))
    read_lines (ini, text, length, problems);
  return ini;
}

void
ini_free (IniFile *ini)
{
  if (ini == NULL)
    return;
  g_free (ini->name);
  g_string_chunk_free (ini->strings);
  g_array_unref (ini->sections);
  g_array_unref (ini->entries);
  g_free (ini);
}

const IniSection *
ini_sections (const IniFile *ini, guint *n)
{
  *n = ini->sections->len;
  return (const IniSection *)(gconstpointer)ini->sections->data; /* NULL where there are none */
}

const IniEntry *
ini_entry (const IniFile *ini, guint index)
{
  g_assert (index < ini->entries->len);
  return &g_array_index (ini->entries, IniEntry, index);
}
