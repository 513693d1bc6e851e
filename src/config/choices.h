/* The enumerations of scenario, model, GPU and cluster files; see choices.def. */
#pragma once

#include <glib.h>

#define CHOICES_BEGIN(type, prefix)                                                                \
  typedef enum                                                                                     \
  {
#define CHOICE(name, text) name,
#define CHOICES_END(type)                                                                          \
  }                                                                                                \
  type;
#include "config/choices.def"
#undef CHOICES_BEGIN
#undef CHOICE
#undef CHOICES_END

#define N_COLLECTIVES (COLLECTIVE_ALL_TO_ALL + 1)

/* The words of each enumeration in order, NULL-terminated: FsdpApi_words[API_FSDP1] is "fsdp1". */
#define CHOICES_BEGIN(type, prefix) extern const char *const type##_words[];
#define CHOICE(name, text)
#define CHOICES_END(type)
#include "config/choices.def"
#undef CHOICES_BEGIN
#undef CHOICE
#undef CHOICES_END

/* Bytes of one element. */
guint dtype_bytes (Dtype dtype);
