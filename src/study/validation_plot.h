/* What `fsdpsim plot` draws of published runs: predicted against measured. */
#pragma once

#include "study/validation.h"

/* Writes data and script into FOLDER/plots. @name: of the table. G_FILE_ERROR. Nothing where no run
 * has both. */
gboolean validation_plot_write (const Validation *validation, const char *name, const char *folder,
                                GError **error);
