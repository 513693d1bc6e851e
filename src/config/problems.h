/* The mistakes of the user's files and options. All of a file are collected in
 * one run and printed as compilers do: file:line:column, key, what is wrong,
 * what would do, then the line with a caret. */
#pragma once

#include <glib.h>

/* Where a piece of input stands. @line 0: the whole file, or an option. */
typedef struct
{
  const char *file; /* as the user named it; "-s" or "--set" for options; borrowed */
  guint line;       /* from 1 */
  guint column;     /* from 1, in bytes */
  const char *text; /* the line, for the caret; borrowed, may be NULL */
} Place;

typedef struct _Problems Problems;

Problems *problems_new (void);
void problems_free (Problems *problems);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Problems, problems_free)

/* Notes one mistake; copies what it keeps. @section and @key may be NULL. The
 * same mistake at the same place counts once, however many variants meet it. */
void problems_add (Problems *problems, const Place *place, const char *section, const char *key,
                   const char *format, ...) G_GNUC_PRINTF (5, 6);

/* Files are printed in the order in which they were first met; this is a meeting. */
void problems_meet_file (Problems *problems, const char *file);

/* Adds all of @more. */
void problems_append (Problems *problems, const Problems *more);

guint problems_count (const Problems *problems);

/* So many that a reader should give up: whoever finds more wastes time. */
gboolean problems_are_enough (const Problems *problems);

/* The first that was noted, without its place; NULL where there is none. The caller frees it. */
char *problems_first (const Problems *problems);

/* Of the places that could not be read or written at all, as opposed to being
 * wrong: the command then exits with 4, not 3. */
void problems_add_io (Problems *problems, const char *file, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* The same for a file that another one names at @place. */
void problems_add_io_at (Problems *problems, const Place *place, const char *section,
                         const char *key, const char *format, ...) G_GNUC_PRINTF (5, 6);
gboolean problems_has_io (const Problems *problems);

/* What is wrong, without where: messages with section and key, in the order of noting and
 * joined by "; ". The caller frees it. */
char *problems_summary (const Problems *problems);

/* All of them in the order of the input (files as they were first met), at most
 * 20 and then a count, each line led by @program ("fsdpsim: "). The caller frees it. */
char *problems_format (const Problems *problems, const char *program);
