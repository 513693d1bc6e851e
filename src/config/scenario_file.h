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
  char *title; /* of the scenario, and what else than the file was asked for */
  Document *document;
  Layer *defaults;
  Sources *sources;
  ScenarioVariant base; /* without any variant; may lack keys that every variant gives */
  GArray *variants;     /* ScenarioVariant */
  char *sha256;
};
