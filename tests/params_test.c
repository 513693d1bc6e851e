#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cost/params.h"
#include "cost/tensors.h"

static ModelConfig
llama (guint layers, guint hidden, guint heads, guint kv_heads, guint ffn_hidden, guint vocab)
{
  return (ModelConfig){ .layers = layers,
                        .hidden = hidden,
                        .heads = heads,
                        .kv_heads = kv_heads,
                        .head_dim = hidden / heads,
                        .ffn_hidden = ffn_hidden,
                        .gated_ffn = TRUE,
                        .vocab = vocab,
                        .norm = NORM_RMSNORM };
}

/* Query, key, value, output 4 x 4096^2 = 67,108,864; gate, up, down 3 x 4096 x 11008 =
 * 135,266,304; two norms 8,192: 202,383,360. 32 of them, embedding and head of
 * 32000 x 4096 = 131,072,000 each, and a norm of 4096. */
static void
llama2_7b_has_6738415616 (void **state)
{
  ModelConfig model = llama (32, 4096, 32, 32, 11008, 32000);
  ParamCount count = params_count (&model);

  (void)state;
  assert_int_equal (count.block, 202383360);
  assert_int_equal (count.embedding, 131072000);
  assert_int_equal (count.head, 131072000);
  assert_int_equal (count.final_norm, 4096);
  assert_int_equal (count.total, 6738415616);
}

/* Grouped queries: query and output 2 x 16384^2 = 536,870,912, key and value 2 x 16384 x
 * 8 x 128 = 33,554,432; 3 x 16384 x 53248 = 2,617,245,696; norms 32,768: 3,187,703,808.
 * 126 of them, 2 x 128256 x 16384 = 4,202,692,608, and 16384. */
static void
llama3_405b_has_405853388800 (void **state)
{
  ModelConfig model = llama (126, 16384, 128, 8, 53248, 128256);
  ParamCount count = params_count (&model);

  (void)state;
  assert_int_equal (count.block, 3187703808);
  assert_int_equal (count.total, 405853388800);
}

/* Published totals of the same layout. */
static void
other_llamas_have_their_published_totals (void **state)
{
  const struct
  {
    ModelConfig model;
    gint64 total;
  } cases[] = { { llama (40, 5120, 40, 40, 13824, 32000), 13015864320 },
                { llama (80, 8192, 64, 8, 28672, 32000), 68976648192 },
                { llama (32, 4096, 32, 8, 14336, 128256), 8030261248 },
                { llama (80, 8192, 64, 8, 28672, 128256), 70553706496 },
                { llama (32, 4096, 32, 8, 14336, 32000), 7241732096 } };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_int_equal (params_count (&cases[i].model).total, cases[i].total);
}

/* Biases everywhere: attention 4 x (1600^2 + 1600) = 10,246,400; feed-forward 2 x 1600 x
 * 6400 + 6400 + 1600 = 20,488,000; two norms of weight and bias 6,400: 30,740,800.
 * 48 of them; embedding 50257 x 1600 and 1024 learned positions x 1600: 82,049,600;
 * the head is the embedding; a norm of 3,200. */
static void
gpt2_xl_has_1557611200 (void **state)
{
  ModelConfig model = { .layers = 48,
                        .hidden = 1600,
                        .heads = 25,
                        .kv_heads = 25,
                        .head_dim = 64,
                        .ffn_hidden = 6400,
                        .vocab = 50257,
                        .tied_embeddings = TRUE,
                        .positions = 1024,
                        .norm = NORM_LAYERNORM,
                        .norm_bias = TRUE,
                        .attention_bias = TRUE,
                        .mlp_bias = TRUE };
  ParamCount count = params_count (&model);

  (void)state;
  assert_int_equal (count.block, 30740800);
  assert_int_equal (count.embedding, 82049600);
  assert_int_equal (count.head, 0);
  assert_int_equal (count.final_norm, 3200);
  assert_int_equal (count.total, 1557611200);
}

/* No biases, tied: 12 x 4096^2 + 2 x 4096 = 201,334,784 a block, 32 of them,
 * 50432 x 4096 = 206,569,472, a norm of 4096. */
static void
mpt_7b_has_6649286656 (void **state)
{
  ModelConfig model = { .layers = 32,
                        .hidden = 4096,
                        .heads = 32,
                        .kv_heads = 32,
                        .head_dim = 128,
                        .ffn_hidden = 16384,
                        .vocab = 50432,
                        .tied_embeddings = TRUE,
                        .norm = NORM_LAYERNORM };

  (void)state;
  assert_int_equal (params_count (&model).block, 201334784);
  assert_int_equal (params_count (&model).total, 6649286656);
}

/* A head wider than hidden / heads: 2 x 100 x (2 x 80) + 2 x 100 x (1 x 80) = 48,000. */
static void
heads_need_not_add_up_to_hidden (void **state)
{
  ModelConfig model = { .layers = 1,
                        .hidden = 100,
                        .heads = 2,
                        .kv_heads = 1,
                        .head_dim = 80,
                        .ffn_hidden = 10,
                        .vocab = 7,
                        .norm = NORM_RMSNORM };

  (void)state;
  /* and a feed-forward of 2 x 100 x 10, and two norms */
  assert_int_equal (params_count (&model).block, 48000 + 2000 + 200);
}

static gint64
sum (const GArray *tensors)
{
  gint64 elements = 0;

  for (guint i = 0; i < tensors->len; i++)
    elements += g_array_index (tensors, ParamTensor, i).elements;
  return elements;
}

static void
assert_tensors_add_up (const ModelConfig *model)
{
  g_autoptr (GArray) block = tensors_new (), embedding = tensors_new (), head = tensors_new ();
  ParamCount count = params_count (model);

  tensors_add_block (block, model);
  tensors_add_embedding (embedding, model);
  tensors_add_head (head, model);
  assert_int_equal (sum (block), count.block);
  assert_int_equal (sum (embedding), count.embedding + count.outer);
  assert_int_equal (sum (head), count.final_norm + count.head);
}

/* Seven matrices and two norms in a Llama block. */
static void
tensors_add_up_to_the_counts (void **state)
{
  ModelConfig model = llama (2, 4096, 32, 8, 14336, 32000);
  g_autoptr (GArray) block = tensors_new ();

  (void)state;
  tensors_add_block (block, &model);
  assert_int_equal (block->len, 9);
  assert_int_equal (g_array_index (block, ParamTensor, 1).elements, 4096 * 1024);
  assert_tensors_add_up (&model);
  model.experts = 8;
  model.experts_per_token = 2;
  model.shared_ffn_hidden = 100;
  model.router_bias = model.attention_bias = TRUE;
  model.qk_norm = QK_NORM_WIDTH;
  model.extra_parameters = 17;
  model.extra_matmul_parameters = 19;
  assert_tensors_add_up (&model);
  model.kv_lora_rank = 512;
  model.q_lora_rank = 1536;
  model.rope_head_dim = 64;
  model.value_head_dim = 96;
  assert_tensors_add_up (&model);
  model.norm = NORM_LAYERNORM;
  model.norm_bias = model.mlp_bias = model.tied_embeddings = model.head_bias = TRUE;
  model.norm_placement = NORMS_SANDWICH;
  model.outer_norms = OUTER_NORMS_BOTH;
  model.embedding_hidden = 512;
  model.embedding_rows = 32064;
  model.positions = 2048;
  model.outer_parameters = 23;
  assert_tensors_add_up (&model);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (tensors_add_up_to_the_counts),
    cmocka_unit_test (llama2_7b_has_6738415616),
    cmocka_unit_test (llama3_405b_has_405853388800),
    cmocka_unit_test (other_llamas_have_their_published_totals),
    cmocka_unit_test (gpt2_xl_has_1557611200),
    cmocka_unit_test (mpt_7b_has_6649286656),
    cmocka_unit_test (heads_need_not_add_up_to_hidden),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
