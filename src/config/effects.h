/* Which keys do nothing beside others. */
#pragma once

#include "config/keys.h"

/* Why @key changes nothing in @scenario, such as "no effect with fsdp2"; NULL where it may. */
const char *effect_absent (KeyId key, const Scenario *scenario);

/* Does the key count only where adapters are trained? */
gboolean effect_is_of_adapters (KeyId key);
/* Or of encoder-decoders, such as training.encoder_seq_len. */
gboolean effect_is_of_encoders (KeyId key);
