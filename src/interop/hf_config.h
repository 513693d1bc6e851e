/* A Hugging Face config.json as one of our model files: decoders and encoder-decoders; what else
 * is handed in is refused by its kind. */
#pragma once

#include "config/problems.h"

typedef struct
{
  char *model_type; /* of the language model: that of its text_config where it has one */
  char *text;       /* of a model file */
  GPtrArray *notes; /* char *: what was assumed, and what is left out */
} HfModel;

/* @name: of the file, for messages and for the model's name. FALSE, and
 * @problems say why with line and column, where the text holds no model that can
 * be represented. */
gboolean hf_config_read (const char *name, const char *text, gsize length, HfModel *model,
                         Problems *problems);
void hf_model_clear (HfModel *model);
