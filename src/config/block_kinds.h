/* Blocks that differ (model.block_kinds, model.block_order): each kind is the
 * model with a few keys of its own, and the order says which block is of which
 * kind. "dense: experts=0 ffn_hidden=18432" and "3*dense 58*base". */
#pragma once

#include "config/keys.h"

/* What the model itself is called in an order. */
#define BLOCK_KIND_BASE "base"

/* Whether blocks may differ in a key. */
gboolean block_kinds_is_block_key (KeyId id);

/* Whether @text can be read as kinds: names, keys of a block, values in range. */
gboolean block_kinds_check (const char *text, GError **error);

/* Whether @text can be read as an order; of names it knows nothing. */
gboolean block_order_check (const char *text, GError **error);

/* Fills in kinds, n_kinds and kind_of_block of the scenario's model from its two
 * texts, its other keys being as the files have them. FALSE where the order names a kind that
 * there is not; the blocks then count as alike. Frees what was there before. */
gboolean block_kinds_build (Scenario *scenario, GError **error);

/* Frees what block_kinds_build() made, the texts not. */
void block_kinds_clear_built (ModelConfig *model);

/* Frees the texts and what block_kinds_build() made. */
void block_kinds_clear (ModelConfig *model);
