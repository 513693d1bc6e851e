/* Looks over the text of a JSON file before json-glib reads it, for what that
 * would take silently (comments, a second document, 0x10, numbers beyond 64 bits)
 * or reports without saying what the file is (empty, UTF-16, a Git LFS pointer,
 * a Python dict, cut off). It knows tokens and brackets, no more. */
#pragma once

#include <glib.h>

#include "config/problems.h"

typedef struct
{
  gsize offset; /* into the text */
  char *message;
} JsonNote;

/* Readable as JSON text? If not, one problem says where and what. Python writes
 * NaN, Infinity and -Infinity, which are made strings of question marks in place,
 * and whole numbers of more than 18 digits, which get an exponent instead of their
 * last two digits: no position moves. Each such repair is a JsonNote in @notes.
 * @name: of the file, for the problem. A byte order mark becomes blanks.
 * @values: gsize: where the value of each member of an object starts, in the order in which
 * the values end, which is that of json-glib's signal "object-member". */
gboolean json_scan (char *text, gsize length, const char *name, GArray *notes, GArray *values,
                    Problems *problems);

/* Whether a string stands for a NaN or an infinity of the file. */
gboolean json_scan_is_stand_in (const char *string);
