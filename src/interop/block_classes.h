/* What people call models and their blocks: families by model_type, classes to wrap,
 * and which of our own model files a name means. */
#pragma once

#include <glib.h>

/* The class of the family's blocks, or "Encoder…,Decoder…"; NULL where the family is not known. */
const char *block_class_of (const char *model_type);
/* The family that has blocks of this class; NULL where none is known. */
const char *block_class_family (const char *class_name);
gboolean block_class_belongs (const char *class_name, const char *model_type);

typedef enum
{
  CLASS_UNKNOWN,
  CLASS_BLOCK,
  CLASS_PART, /* of a block: attention, feed-forward, experts */
  CLASS_MODEL /* the whole of it */
} ClassKind;

ClassKind block_class_kind (const char *class_name);

/* The family that a name such as "mistralai/Mixtral-8x7B-v0.1" tells of, or NULL. */
const char *model_name_family (const char *name);
/* The name of our own model file for it, or NULL. */
const char *model_name_shipped (const char *name);
