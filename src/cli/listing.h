/* Rows of text and numbers as an aligned table, CSV or JSON. */
#pragma once

#include "cli/options.h"

typedef struct
{
  const char *name;    /* in CSV and JSON, unit included: "memory_bytes" */
  const char *heading; /* in tables; NULL: only in CSV and JSON, or under -v */
  gboolean is_number;
} ListingColumn;

typedef struct
{
  const char *subject; /* "models" */
  const ListingColumn *columns;
  guint n_columns;
  GPtrArray *cells; /* char *, row by row; numbers as they print */
} Listing;

void listing_init (Listing *listing, const char *subject, const ListingColumn *columns,
                   guint n_columns);
void listing_clear (Listing *listing);

/* Takes over @text. */
void listing_add (Listing *listing, char *text);

/* @all_columns: those without a heading too. The caller frees it. */
char *listing_format (const Listing *listing, Format format, gboolean all_columns);
