/* Checks settings files and prices what it finds: the job as it is and each other way to set
 * it, simulated. */
#pragma once

#include "interop/check.h"
#include "report/checked.h"

typedef struct
{
  Versions versions;
  const char *trainer;    /* a file of arguments, or NULL */
  const char *model;      /* a source of [model], or NULL */
  const char *model_type; /* of it, where it is Hugging Face's, or NULL */
  const char *cluster;    /* a source of [cluster], or NULL */
  guint nodes;            /* 0: as the files say */
  ScenarioOptions how;    /* -s, and who reads foreign models */
  guint n_threads;
} CheckRequest;

/* Fills @file, which checked_file_init() made. FALSE where the file holds no settings that are
 * known; @problems say why. They may hold something after TRUE too: what is not modelled. */
gboolean check_study (const char *path, const CheckRequest *request, CheckedFile *file,
                      Problems *problems);
