#include <config.h>

#include "settings_fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  return fuzz_settings ("fuzz.json", data, size);
}
