#include <config.h>

#include "config/choices.h"

#define CHOICES_BEGIN(type, prefix) const char *const type##_words[] = {
#define CHOICE(name, text)          text,
#define CHOICES_END(type)                                                                          \
  NULL                                                                                             \
  }                                                                                                \
  ;
#include "config/choices.def"
#undef CHOICES_BEGIN
#undef CHOICE
#undef CHOICES_END

guint
dtype_bytes (Dtype dtype)
{
  return dtype == DTYPE_FP32 ? 4 : 2;
}
