/* The inside of a ScenarioFile, for this room alone. */
#pragma once

#include "config/document.h"
#include "config/resolve.h"
#include "config/scenario.h"

typedef struct
{
  Resolved resolved; /* where each value came from */
  Scenario scenario;
} ScenarioVariant;

struct _ScenarioFile
{
  char *name; /* as given */
  char *path;
  Document *document;
  Layer *defaults;
  Sources *sources;
  ScenarioVariant base; /* without any variant; may lack keys that every variant gives */
  GArray *variants;     /* ScenarioVariant */
  char *sha256;
};

/* A scenario held in memory; @path is where it would lie. */
ScenarioFile *scenario_file_load_text (const char *name, const char *path, const char *text,
                                       gsize length, const ScenarioOptions *options,
                                       Problems *problems);
