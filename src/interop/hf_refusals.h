/* JSON files that hold no model that could be read: which kind they are, and why not. */
#pragma once

#include "interop/hf_reader.h"

/* Whether the file is another kind than a model's config.json, which is then a problem. */
gboolean hf_refuse_other_kinds (HfReader *reader);
/* An object without a model_type. */
void hf_refuse_untyped (HfReader *reader);
/* A model_type that no family has. */
void hf_refuse_unknown (HfReader *reader, const char *model_type);
/* Whether the type is an encoder, an encoder-decoder that no family has, or another model without a
 * decoder of its own, which is then a problem. */
gboolean hf_refuse_encoders (HfReader *reader, const char *model_type);
/* A size that is missing, under the name that another program gives it. */
void hf_refuse_foreign_names (HfReader *reader);
