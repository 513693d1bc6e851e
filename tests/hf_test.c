#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "config/scenario.h"
#include "cost/params.h"
#include "interop/hf_config.h"

/* Keys of the configs below; ' stands for ". */
#define USUAL                                                                                      \
  "'hidden_size': 8, 'num_attention_heads': 4, 'num_key_value_heads': 2, "                         \
  "'intermediate_size': 16, 'num_hidden_layers': 2, 'vocab_size': 100"
#define USUAL_HEADS                                                                                \
  "'hidden_size': 8, 'num_attention_heads': 4, 'intermediate_size': 16, "                          \
  "'num_hidden_layers': 2, 'vocab_size': 100"
#define GPT_NAMES "'n_embd': 8, 'n_head': 4, 'n_layer': 2, 'vocab_size': 100"

#define REST "\n[cluster]\nsource = dgx-a100-80g\n[training]\nseq_len = 1\n"

typedef struct
{
  const char *model_type;
  const char *keys;
  gint64 total, active, block, embedding, head;
} Case;

/* Each tensor by itself: in x out of a matrix, (in + 1) x out with a bias; then what
 * is outside the blocks. Where blocks differ, the most common is the block that
 * counts, of equally many the first; "active" has the experts of one token. */
/* clang-format off */
static const Case cases[] = {
  /* 2 x (8*8 + 2*8*4 + 8*8 + 2*8*16 + 2*8) = 2 x 464. embedding 100*8, head 100*8, other 8. So of
   * AFM-4.5B: 36 x (2*2560*2560 + 2*2560*512 + 2*2560*18432 + 2*2560) + 2*128004*2560 + 2560 =
   * 4,619,184,640. */
  { "arcee", USUAL,
    2536, 2536, 464, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*2*8) = 2 x 608. embedding 100*8, head 100*8, other 2*8. So
   * of Orion-14B: 40 x (4*5120*5120 + 3*5120*15360 + 4*5120) + 2*84608*5120 + 2*5120 =
   * 14,498,703,360. */
  { "orion", USUAL,
    2832, 2832, 608, 800, 800 },
  /* As llama. CWM-32B: 64 x (2*6144*6144 + 2*6144*1024 + 3*6144*21504 + 2*6144) + 2*128256*6144 +
   * 6144 = 32,581,097,472. */
  { "cwm", USUAL ", 'head_dim': 2, 'layer_types': ['full_attention', 'sliding_attention']",
    2792, 2792, 592, 800, 800 },
  { "ministral3", USUAL ", 'head_dim': 2",
    2792, 2792, 592, 800, 800 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*16 + (16 + 1)*8 + 2*2*8) = 2 x 600. embedding 100*8, positions 12*8,
   * other 2*8. So of BioGPT: 24 x 12,596,224 + 42384*1024 + 1026*1024 + 2*1024 = 346,763,264. */
  { "biogpt", USUAL_HEADS ", 'max_position_embeddings': 10",
    2112, 2112, 600, 896, 0 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*32 + (32 + 1)*8 + 2*2*8) = 2 x 872. embedding 100*8, positions 10*8.
   * So of GPT: 12 x 7,087,872 + 40478*768 + 512*768 = 116,534,784. */
  { "openai-gpt", GPT_NAMES ", 'n_positions': 10",
    2624, 2624, 872, 880, 0 },
  /* 2 x 600, as biogpt. embedding 100*8, bias of the head 100, other 2*8. So of CTRL: 48 x
   * (4*1281*1280 + 1281*8192 + 8193*1280 + 4*1280) + 246534*1280 + 246534 + 2*1280 =
   * 1,637,964,550. */
  { "ctrl", GPT_NAMES ", 'dff': 16",
    2116, 2116, 600, 800, 100 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 4 + 8*4 + 4*3*8*16 + 2*8) = 2 x 1788; active 1020. So of
   * FlexOlmo-7x7B: 32 x (4*4096*4096 + 2*4096 + 7*4096 + 7*3*4096*11008 + 2*4096) +
   * 2*100352*4096 + 4096 = 33,270,665,216. */
  { "flex_olmo", USUAL ", 'num_experts': 4, 'num_experts_per_tok': 2",
    5184, 3648, 1788, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 2*2 + 8*4 + (4 + 1)*3*8*16 + 2*8) = 2 x 2164; active 1396. So of
   * Hunyuan-A13B, tied: 32 x (2*4096*4096 + 2*4096*1024 + 2*128 + 64*4096 + 65*3*4096*3072 +
   * 2*4096) + 128167*4096 + 4096 = 80,393,183,232. */
  { "hunyuan_v1_moe", USUAL ", 'head_dim': 2, 'num_experts': 4, 'moe_topk': [2, 2], "
    "'moe_intermediate_size': [16, 16], 'num_shared_expert': [1, 1]",
    5936, 4400, 2164, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8*4 + (4 + 1)*3*8*8 + 2*8) = 2 x 1200; active 816. So of Ling-lite:
   * 28 x (2*2048*2048 + 2*2048*512 + 64*2048 + 66*3*2048*1408 + 2*2048) + 2*126464*2048 + 2048 =
   * 16,801,974,272. */
  { "bailing_moe", USUAL ", 'num_experts': 4, 'num_experts_per_tok': 2, 'num_shared_experts': 1, "
    "'moe_intermediate_size': 8",
    4008, 3240, 1200, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 2 x 592. embedding 100*8, head 100*8, other 8. */
  { "llama", USUAL,
    2792, 2792, 592, 800, 800 },
  /* 2 x ((8 + 1)*16 + 2*(8 + 1)*8 + (16 + 1)*8 + 2*(8 + 1)*16 + (16 + 1)*8 + 2*8) = 2 x 864.
   * embedding 100*8, head 0, other 8. */
  { "llama", USUAL ", 'attention_bias': true, 'mlp_bias': true, 'tie_word_embeddings': true, "
    "'head_dim': 4",
    2536, 2536, 864, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 2 x 592. embedding 100*8, head 100*8, other 8. */
  { "mistral", USUAL,
    2792, 2792, 592, 800, 800 },
  /* 2 x (4*8*8 + 3*8*16 + 2*8) = 2 x 656. embedding 100*8, head 100*8, other 8. */
  { "baichuan", USUAL_HEADS,
    2920, 2920, 656, 800, 800 },
  /* 2 x (4*(8 + 1)*8 + 3*8*16 + 2*8) = 2 x 688. embedding 100*8, head 100*8, other 8. */
  { "internlm", USUAL_HEADS,
    2984, 2984, 688, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 2 x 592. embedding 100*8, head 100*8, other 8. */
  { "internlm2", USUAL ", 'bias': false",
    2792, 2792, 592, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 3*8*16 + 2*8) = 2 x 608. embedding 100*8, head 100*8,
   * other 8. */
  { "internlm3", USUAL ", 'qkv_bias': true",
    2824, 2824, 608, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 2 x 592. embedding 100*8, head 0, other 8. */
  { "granite", USUAL ", 'tie_word_embeddings': true",
    1992, 1992, 592, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 2 x 592. embedding 100*8, head 0, other 8. */
  { "smollm3", USUAL,
    1992, 1992, 592, 800, 0 },
  /* 2 x (8*16 + 2*8*8 + 16*8 + 3*8*16 + 2*8) = 2 x 784. embedding 100*8, head 100*8, other 8. */
  { "helium", USUAL ", 'head_dim': 4",
    3176, 3176, 784, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 2 x 592. embedding 100*8, head 0, other 8. */
  { "ernie4_5", USUAL ", 'head_dim': 2",
    1992, 1992, 592, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 3*8*16 + 2*8) = 2 x 608. embedding 100*8, head 100*8,
   * other 8. */
  { "seed_oss", USUAL ", 'head_dim': 2",
    2824, 2824, 608, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 2*2 + 3*8*16 + 2*8) = 2 x 596. embedding 100*8, head 100*8, other
   * 8. */
  { "hunyuan_v1_dense", USUAL,
    2800, 2800, 596, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 2 x 592. embedding 100*8, head 100*8, other 8. */
  { "exaone", "'hidden_size': 8, 'num_attention_heads': 4, 'num_key_value_heads': 2, "
    "'intermediate_size': 16, 'num_layers': 2, 'vocab_size': 100",
    2792, 2792, 592, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 2*2 + 3*8*16 + 2*8) = 2 x 596. embedding 100*8, head 100*8, other
   * 8. */
  { "exaone4", USUAL,
    2800, 2800, 596, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8 + 8 + 16) = 2 x 616. embedding 100*8, head 100*8,
   * other 8. */
  { "bitnet", USUAL,
    2840, 2840, 616, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16) = 2 x 576. embedding 100*8, head 100*8, other 0. */
  { "olmo", USUAL,
    2752, 2752, 576, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 4 + 3*8*16 + 2*8) = 2 x 604. embedding 100*8, head 100*8,
   * other 8. */
  { "olmo2", USUAL,
    2816, 2816, 604, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 4 + 3*8*16 + 2*8) = 2 x 604. embedding 100*8, head 100*8,
   * other 8. */
  { "olmo3", USUAL,
    2816, 2816, 604, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 2 x 592. embedding 100*8, head 100*8, other 8. */
  { "phi3", USUAL,
    2792, 2792, 592, 800, 800 },
  /* 2 x ((8 + 1)*8 + 2*(8 + 1)*4 + (8 + 1)*8 + (8 + 1)*16 + (16 + 1)*8 + 2*8) = 2 x 512.
   * embedding 100*8, head 100*8 + 100, other 2*8. */
  { "phi", USUAL,
    2740, 2740, 512, 800, 900 },
  /* 2 x (4*(8 + 1)*8 + 2*2*2 + (8 + 1)*16 + (16 + 1)*8 + 2*2*8) = 2 x 608. embedding 100*8,
   * head 100*8, other 2*8. */
  { "persimmon", USUAL_HEADS,
    2832, 2832, 608, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 3*8*16 + 2*2*8) = 2 x 624. embedding 100*8, head 100*8,
   * other 2*8. */
  { "stablelm", USUAL ", 'use_qkv_bias': true",
    2864, 2864, 624, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + (4 + 2)*2 + 3*8*16 + 2*8) = 2 x 604. embedding 100*8, head 100*8,
   * other 2*8. */
  { "stablelm", USUAL ", 'use_parallel_residual': true, 'qk_layernorm': true",
    2824, 2824, 604, 800, 800 },
  /* 2 x ((8 + 1)*8 + 2*(8 + 1)*4 + (8 + 1)*8 + (8 + 1)*16 + (16 + 1)*8 + 2*2*8) = 2 x 528.
   * embedding 100*8, head 0, other 2*8. */
  { "starcoder2", USUAL,
    1872, 1872, 528, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 2*8*16 + 2*2*8) = 2 x 480. embedding 100*8, head 100*8, other
   * 2*8. */
  { "nemotron", USUAL,
    2576, 2576, 480, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 2*2 + 2*8*16 + 2 + 2*8) = 2 x 470. embedding 100*8, head 100*8,
   * other 8. */
  { "apertus", USUAL,
    2548, 2548, 470, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 4 + 3*8*16 + 8) = 2 x 596. embedding 100*8, head 0, other 8. */
  { "cohere", USUAL ", 'use_qk_norm': true",
    2000, 2000, 596, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 8) = 2 x 584. embedding 100*8, head 0, other 8. */
  { "cohere2", USUAL,
    1976, 1976, 584, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 3*8*16 + 2*8) = 2 x 608. embedding 100*8, head 100*8,
   * other 8. */
  { "glm", USUAL ", 'head_dim': 2",
    2824, 2824, 608, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 3*8*16 + 4*8) = 2 x 624. embedding 100*8, head 100*8,
   * other 8. */
  { "glm4", USUAL ", 'head_dim': 2",
    2856, 2856, 624, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 3*8*16 + 2*8) = 2 x 608. embedding 100*8, head 100*8,
   * other 8. */
  { "chatglm", "'hidden_size': 8, 'num_attention_heads': 4, 'num_layers': 2, "
    "'ffn_hidden_size': 16, 'padded_vocab_size': 100, 'kv_channels': 2, "
    "'multi_query_attention': true, 'multi_query_group_num': 2, 'add_qkv_bias': "
    "true",
    2824, 2824, 608, 800, 800 },
  /* 1 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 1 x 592. 1 x (8*8 + 2*8*4 + 8*8 + 2*2 + 3*8*16 +
   * 2 + 2*8) = 1 x 598. embedding (100 + 8)*8, head 100*8, other 8. */
  { "mllama_text_model", USUAL ", 'cross_attention_layers': [1]",
    2862, 2862, 592, 864, 800 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*32 + (32 + 1)*8 + 2*2*8) = 2 x 872. embedding 100*8 + 32*8,
   * head 0, other 2*8. */
  { "gpt2", GPT_NAMES ", 'n_positions': 32",
    2816, 2816, 872, 1056, 0 },
  /* 2 x ((8 + 1)*8 + 2*(8 + 1)*2 + (8 + 1)*8 + (8 + 1)*16 + (16 + 1)*8 + 2*2*8) = 2 x 492.
   * embedding 100*8 + 32*8, head 0, other 2*8. */
  { "gpt_bigcode", GPT_NAMES ", 'n_inner': 16, 'n_positions': 32",
    2056, 2056, 492, 1056, 0 },
  /* 2 x (4*8*8 + 8 + (8 + 1)*32 + (32 + 1)*8 + 2*2*8) = 2 x 848. embedding 100*8 + 32*8, head
   * 0, other 2*8. */
  { "gpt_neo", "'hidden_size': 8, 'num_heads': 4, 'num_layers': 2, 'vocab_size': 100, "
    "'max_position_embeddings': 32",
    2768, 2768, 848, 1056, 0 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*16 + (16 + 1)*8 + 2*2*8) = 2 x 600. embedding 100*8, head
   * 100*8, other 2*8. */
  { "gpt_neox", USUAL_HEADS,
    2816, 2816, 600, 800, 800 },
  /* 2 x (4*8*8 + (8 + 1)*32 + (32 + 1)*8 + 2*8) = 2 x 824. embedding 100*8, head 100*8 + 100,
   * other 2*8. */
  { "gptj", GPT_NAMES,
    3364, 3364, 824, 800, 900 },
  /* 2 x (4*8*8 + (8 + 1)*32 + (32 + 1)*8 + 2*8) = 2 x 824. embedding 100*8, head 100*8 + 100,
   * other 2*8. */
  { "codegen", GPT_NAMES,
    3364, 3364, 824, 800, 900 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*16 + (16 + 1)*8 + 2*2*8) = 2 x 600. embedding 100*8 + 34*8,
   * head 0, other 2*8. */
  { "opt", "'hidden_size': 8, 'num_attention_heads': 4, 'num_hidden_layers': 2, 'ffn_dim': "
    "16, 'vocab_size': 100, 'max_position_embeddings': 32",
    2288, 2288, 600, 1072, 0 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*16 + (16 + 1)*8 + 2*2*8) = 2 x 600. embedding 100*4 + 34*8,
   * head 0, other 2*4*8. */
  { "opt", "'hidden_size': 8, 'num_attention_heads': 4, 'num_hidden_layers': 2, 'ffn_dim': "
    "16, 'vocab_size': 100, 'max_position_embeddings': 32, 'word_embed_proj_dim': "
    "4, 'do_layer_norm_before': false",
    1936, 1936, 600, 672, 0 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*16 + (16 + 1)*8 + 2*2*8) = 2 x 600. embedding 100*8, head 0,
   * other 2*8. */
  { "xglm", "'d_model': 8, 'attention_heads': 4, 'num_layers': 2, 'ffn_dim': 16, "
    "'vocab_size': 100",
    2016, 2016, 600, 800, 0 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*32 + (32 + 1)*8 + 2*2*8) = 2 x 872. embedding 100*8, head 0,
   * other 2*2*8. */
  { "bloom", "'n_embed': 8, 'num_attention_heads': 4, 'n_layer': 2, 'vocab_size': 100",
    2576, 2576, 872, 800, 0 },
  /* 2 x (8*8 + 2*8*2 + 8*8 + 2*8*32 + 2*8) = 2 x 688. embedding 100*8, head 0, other 2*8. */
  { "falcon", "'hidden_size': 8, 'num_attention_heads': 4, 'num_hidden_layers': 2, "
    "'vocab_size': 100, 'bias': false, 'multi_query': true",
    2192, 2192, 688, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 2*8*32 + 2*2*8) = 2 x 736. embedding 100*8, head 0, other 2*8. */
  { "falcon", "'hidden_size': 8, 'num_attention_heads': 4, 'num_kv_heads': 2, "
    "'num_hidden_layers': 2, 'vocab_size': 100, 'bias': false, "
    "'new_decoder_architecture': true",
    2288, 2288, 736, 800, 0 },
  /* 2 x (4*(8 + 1)*8 + (8 + 1)*32 + (32 + 1)*8 + 2*2*8) = 2 x 872. embedding 100*8, head 0,
   * other 2*8. */
  { "falcon", "'hidden_size': 8, 'num_attention_heads': 4, 'num_hidden_layers': 2, "
    "'vocab_size': 100, 'bias': true, 'multi_query': false, 'parallel_attn': false, "
    "'alibi': true",
    2560, 2560, 872, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 2*8*32 + 2*8) = 2 x 720. embedding 100*8, head 0, other 8. */
  { "mpt", "'d_model': 8, 'n_heads': 4, 'n_layers': 2, 'vocab_size': 100, 'attn_config': "
    "{'alibi': true, 'kv_n_heads': 2}",
    2248, 2248, 720, 800, 0 },
  /* 2 x (4*8*8 + 3*8 + 3*8*8 + 2*8) = 2 x 488. embedding 100*8, head 100*8, other 8. */
  { "qwen", USUAL_HEADS ", 'kv_channels': 2",
    2584, 2584, 488, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 3*8*16 + 2*8) = 2 x 608. embedding 100*8, head 100*8,
   * other 8. */
  { "qwen2", USUAL,
    2824, 2824, 608, 800, 800 },
  /* 2 x (8*16 + 2*8*8 + 16*8 + 2*4 + 3*8*16 + 2*8) = 2 x 792. embedding 100*8, head 100*8,
   * other 8. */
  { "qwen3", USUAL ", 'head_dim': 4",
    3192, 3192, 792, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 8*4 + 4*3*8*6 + 3*8*10 + 8 + 2*8) = 2 x 1080; active
   * 792. embedding 100*8, head 100*8, other 8. */
  { "qwen2_moe", USUAL ", 'num_experts': 4, 'num_experts_per_tok': 2, 'moe_intermediate_size': 6, "
    "'shared_expert_intermediate_size': 10",
    3768, 3192, 1080, 800, 800 },
  /* 1 x (8*8 + 2*8*4 + 8*8 + 2*2 + 3*8*16 + 2*8) = 1 x 596. 1 x (8*8 + 2*8*4 + 8*8 + 2*2 + 8*4
   * + 4*3*8*6 + 2*8) = 1 x 820; active 532. embedding 100*8, head 100*8, other 8. */
  { "qwen3_moe", USUAL ", 'num_experts': 4, 'num_experts_per_tok': 2, 'moe_intermediate_size': 6, "
    "'mlp_only_layers': [0]",
    3024, 2736, 596, 800, 800 },
  /* 2 x (8*16 + 2*8*8 + 16*8 + 3*8*16 + 2*8) = 2 x 784. embedding 100*8, head 0, other 8. */
  { "gemma", USUAL ", 'head_dim': 4",
    2376, 2376, 784, 800, 0 },
  /* 2 x (8*16 + 2*8*8 + 16*8 + 3*8*16 + 4*8) = 2 x 800. embedding 100*8, head 0, other 8. */
  { "gemma2", USUAL ", 'head_dim': 4",
    2408, 2408, 800, 800, 0 },
  /* 2 x (8*16 + 2*8*8 + 16*8 + 2*4 + 3*8*16 + 4*8) = 2 x 808. embedding 100*8, head 0, other
   * 8. */
  { "gemma3_text", USUAL ", 'head_dim': 4",
    2424, 2424, 808, 800, 0 },
  /* 1 x (8*16 + 2*8*8 + 16*8 + 2*4 + 3*8*16 + 8*4 + 8 + 4 + 4*3*8*6 + 7*8) = 1 x 1452; active
   * 1164. 1 x (8*24 + 8*6 + 24*8 + 2*6 + 3*8*16 + 8*4 + 8 + 4 + 4*3*8*6 + 7*8) = 1 x 1504;
   * active 1216. embedding 100*8, head 0, other 8. */
  { "gemma4_text", USUAL ", 'head_dim': 4, 'global_head_dim': 6, 'num_global_key_value_heads': 1, "
    "'attention_k_eq_v': true, 'hidden_size_per_layer_input': 0, "
    "'enable_moe_block': true, 'num_experts': 4, 'top_k_experts': 2, "
    "'moe_intermediate_size': 6, 'sliding_window': 16, 'layer_types': "
    "['sliding_attention', 'full_attention']",
    3764, 3188, 1452, 800, 0 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8*4 + 4*3*8*16 + 2*8) = 2 x 1776; active 1008. embedding 100*8,
   * head 100*8, other 8. */
  { "mixtral", USUAL ", 'num_local_experts': 4, 'num_experts_per_tok': 2",
    5160, 3624, 1776, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 8 + 8*4 + 4*3*8*16 + 2*2*8) = 2 x 1816; active 1048.
   * embedding 100*8, head 100*8 + 100, other 2*8. */
  { "phimoe", USUAL ", 'num_local_experts': 4, 'num_experts_per_tok': 2, 'attention_bias': true, "
    "'lm_head_bias': true",
    5348, 3812, 1816, 800, 900 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 4 + 8*4 + 4*3*8*16 + 2*8) = 2 x 1788; active 1020. embedding
   * 100*8, head 100*8, other 8. */
  { "olmoe", USUAL ", 'num_experts': 4, 'num_experts_per_tok': 2",
    5184, 3648, 1788, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8*4 + 4*3*8*16 + 3*8*10 + 2*8) = 2 x 2016; active 1248. embedding
   * 100*8, head 100*8, other 8. */
  { "granitemoeshared", USUAL ", 'num_local_experts': 4, 'num_experts_per_tok': 2, "
    "'shared_intermediate_size': 10",
    5640, 4104, 2016, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 8 + 4 + (8 + 1)*4 + 4*(3*8*16 + 2*16 + 8) + 2*8) = 2 x
   * 1968; active 1120. embedding 100*8, head 100*8, other 8. */
  { "gpt_oss", USUAL ", 'head_dim': 2, 'num_local_experts': 4, 'num_experts_per_tok': 2",
    5544, 3848, 1968, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8*4 + 4*3*8*16 + 2*8) = 2 x 1776; active 1008. embedding 100*8,
   * head 100*8, other 8. */
  { "dbrx", "'d_model': 8, 'n_heads': 4, 'n_layers': 2, 'vocab_size': 100, 'attn_config': "
    "{'kv_n_heads': 2}, 'ffn_config': {'ffn_hidden_size': 16, 'moe_num_experts': 4, "
    "'moe_top_k': 2}",
    5160, 3624, 1776, 800, 800 },
  /* 2 x (8*8 + 2*8*4 + 8*8 + 8 + 4 + (8 + 1)*4 + 4*3*8*16 + 2*8) = 2 x 1792; active 1024.
   * embedding 100*8, head 100*8, other 8. */
  { "minimax_m2", USUAL ", 'head_dim': 2, 'num_local_experts': 4, 'num_experts_per_tok': 2",
    5192, 3656, 1792, 800, 800 },
  /* 1 x (8*8 + 2*8*4 + 8*8 + 8 + 2*4 + 2*2 + 3*8*16 + 2*8) = 1 x 612. 1 x (8*8 + 2*8*4 + 8*8 +
   * 8 + 2*4 + 2*2 + (8 + 1)*4 + 5*3*8*6 + 2*8) = 1 x 984; active 696. embedding 100*8, head
   * 100*8, other 8. */
  { "glm4_moe", USUAL ", 'attention_bias': true, 'use_qk_norm': true, 'n_routed_experts': 4, "
    "'num_experts_per_tok': 2, 'n_shared_experts': 1, 'moe_intermediate_size': 6, "
    "'first_k_dense_replace': 1",
    3204, 2916, 612, 800, 800 },
  /* 1 x (8*8 + 2*8*4 + 8*8 + 2*2 + 3*8*16 + 2*8) = 1 x 596. 1 x (8*8 + 2*8*4 + 8*8 + 2*2 + (8
   * + 1)*4 + 6*3*8*6 + 2*8) = 1 x 1112; active 824. embedding 100*8, head 100*8, other 8. */
  { "dots1", USUAL ", 'n_routed_experts': 4, 'num_experts_per_tok': 2, 'n_shared_experts': 2, "
    "'moe_intermediate_size': 6, 'first_k_dense_replace': 1",
    3316, 3028, 596, 800, 800 },
  /* 1 x (4*8*8 + 3*8*16 + 2*8) = 1 x 656. 1 x (4*8*8 + 8*4 + 6*3*8*6 + 2*8) = 1 x 1168; active
   * 880. embedding 100*8, head 100*8, other 8. */
  { "deepseek", "'hidden_size': 8, 'num_attention_heads': 4, 'num_key_value_heads': 4, "
    "'intermediate_size': 16, 'num_hidden_layers': 2, 'vocab_size': 100, "
    "'n_routed_experts': 4, 'num_experts_per_tok': 2, 'n_shared_experts': 2, "
    "'moe_intermediate_size': 6, 'first_k_dense_replace': 1",
    3432, 3144, 656, 800, 800 },
  /* 1 x (8*8 + 2*8*4 + 8*8 + 3*8*16 + 2*8) = 1 x 592. 1 x (8*8 + 2*8*4 + 8*8 + (8 + 1)*4 +
   * 6*3*8*6 + 2*8) = 1 x 1108; active 820. embedding 100*8, head 0, other 8. */
  { "ernie4_5_moe", USUAL ", 'moe_num_experts': 4, 'moe_k': 2, 'moe_num_shared_experts': 2, "
    "'moe_intermediate_size': 6",
    2508, 2220, 592, 800, 0 },
  /* 1 x (8*8 + 2*8*4 + 8*8 + 3*8*24 + 2*8) = 1 x 784. 1 x (8*8 + 2*8*4 + 8*8 + 8*4 + 5*3*8*16
   * + 2*8) = 1 x 2160; active 1008. embedding 100*8, head 100*8, other 8. */
  { "llama4_text", USUAL ", 'head_dim': 2, 'num_local_experts': 4, 'num_experts_per_tok': 1, "
    "'interleave_moe_layer_step': 2, 'intermediate_size_mlp': 24",
    4552, 3400, 784, 800, 800 },
  /* 1 x (8*16 + 8*8 + 8*4 + 8*8 + 3*8*16 + 2*8) = 1 x 688. 1 x (8*16 + 8*4 + 8*2 + 8*8 + 4 +
   * (8 + 1)*4 + 4*3*8*6 + 2*8) = 1 x 872; active 584. embedding 100*8, head 100*8, other 8. */
  { "mimo_v2_flash", USUAL ", 'head_dim': 4, 'v_head_dim': 2, 'swa_num_key_value_heads': 1, "
    "'sliding_window': 16, 'add_swa_attention_sink_bias': true, "
    "'hybrid_layer_pattern': [0, 1], 'moe_layer_freq': [0, 1], 'n_routed_experts': "
    "4, 'num_experts_per_tok': 2, 'moe_intermediate_size': 6",
    3168, 2880, 688, 800, 800 },
  /* 1 x (8*24 + 8*8 + 6 + 6*4*7 + 12*8 + 3*8*16 + 2*8) = 1 x 926. 1 x (8*24 + 8*8 + 6 + 6*4*7
   * + 12*8 + 8*4 + 5*3*8*6 + 2*8) = 1 x 1294; active 1006. embedding 100*8, head 100*8, other
   * 8. */
  { "deepseek_v2", USUAL ", 'q_lora_rank': null, 'kv_lora_rank': 6, 'qk_nope_head_dim': 4, "
    "'qk_rope_head_dim': 2, 'v_head_dim': 3, 'n_routed_experts': 4, "
    "'num_experts_per_tok': 2, 'n_shared_experts': 1, 'moe_intermediate_size': 6, "
    "'first_k_dense_replace': 1",
    3828, 3540, 926, 800, 800 },
  /* 1 x (8*5 + 5 + 5*24 + 8*8 + 6 + 6*4*7 + 12*8 + 3*8*16 + 2*8) = 1 x 899. 1 x (8*5 + 5 +
   * 5*24 + 8*8 + 6 + 6*4*7 + 12*8 + (8 + 1)*4 + 5*3*8*6 + 2*8) = 1 x 1271; active 983.
   * embedding 100*8, head 100*8, other 8. */
  { "deepseek_v3", USUAL ", 'q_lora_rank': 5, 'kv_lora_rank': 6, 'qk_nope_head_dim': 4, "
    "'qk_rope_head_dim': 2, 'v_head_dim': 3, 'n_routed_experts': 4, "
    "'num_experts_per_tok': 2, 'n_shared_experts': 1, 'moe_intermediate_size': 6, "
    "'first_k_dense_replace': 1",
    3778, 3490, 899, 800, 800 },
  /* 1 x (8*5 + 5 + 5*24 + 8*8 + 6 + 6*4*7 + 12*8 + 5*2*3 + 8*3 + 2*3 + 8*2 + 3*8*16 + 2*8) = 1
   * x 975. 1 x (8*5 + 5 + 5*24 + 8*8 + 6 + 6*4*7 + 12*8 + (8 + 1)*4 + 4*3*8*6 + 2*8) = 1 x
   * 1127; active 839. embedding 100*8, head 100*8, other 8. */
  { "glm_moe_dsa", USUAL ", 'q_lora_rank': 5, 'kv_lora_rank': 6, 'qk_nope_head_dim': 4, "
    "'qk_rope_head_dim': 2, 'v_head_dim': 3, 'n_routed_experts': 4, "
    "'num_experts_per_tok': 2, 'moe_intermediate_size': 6, 'mlp_layer_types': "
    "['dense', 'sparse'], 'index_n_heads': 2, 'index_head_dim': 3, 'indexer_types': "
    "['full', 'shared']",
    3710, 3422, 975, 800, 800 },
  /* 2 x (8*5 + 5 + 5*24 + 8*8 + 6 + 6*4*6 + 8*8 + 3*8*16 + 2*8) = 2 x 843. embedding 100*8,
   * head 0, other 8. */
  { "minicpm3", USUAL ", 'q_lora_rank': 5, 'kv_lora_rank': 6, 'qk_nope_head_dim': 4, "
    "'qk_rope_head_dim': 2",
    2494, 2494, 843, 800, 0 },
  /* 1 x (8*(12 + 32 + 4) + 32*5 + 3*4 + 12 + 12*8 + 8) = 1 x 672. 1 x (8*8 + 2*8*4 + 8*8 + 8)
   * = 1 x 200. 1 x (2*8*16 + 8) = 1 x 264. 1 x (8*4 + 2*8*4 + 4*2*4*6 + 2*8*10 + 8) = 1 x 456;
   * active 360. embedding 100*8, head 100*8, other 8. */
  { "nemotron_h", "'hidden_size': 8, 'num_attention_heads': 4, 'num_key_value_heads': 2, "
    "'intermediate_size': 16, 'hybrid_override_pattern': 'M*-E', 'vocab_size': 100, "
    "'mamba_num_heads': 4, 'mamba_head_dim': 3, 'n_groups': 2, 'ssm_state_size': 5, "
    "'n_routed_experts': 4, 'num_experts_per_tok': 2, 'moe_intermediate_size': 6, "
    "'moe_shared_expert_intermediate_size': 10, 'moe_latent_size': 4",
    3200, 3104, 672, 800, 800 },
  /* 1 x (8*32 + 16*5 + 16*(5 + 2*3) + (5 + 1)*16 + 16*3 + 16 + 16*8 + 5 + 2*3 + 3*8*16 + 2*8)
   * = 1 x 1211. 1 x (8*8 + 2*8*4 + 8*8 + 8*4 + 4*3*8*16 + 2*8) = 1 x 1776; active 1008.
   * embedding 100*8, head 100*8, other 8. */
  { "jamba", USUAL ", 'attn_layer_period': 2, 'attn_layer_offset': 1, 'expert_layer_period': 2, "
    "'expert_layer_offset': 1, 'num_experts': 4, 'num_experts_per_tok': 2, "
    "'mamba_d_state': 3, 'mamba_d_conv': 4, 'mamba_dt_rank': 5, 'mamba_expand': 2",
    4595, 3827, 1211, 800, 800 },
  /* 1 x (8*(16 + 26 + 4) + 26*5 + 3*4 + 16 + 16*8 + 3*8*16 + 2*8) = 1 x 1054. 1 x (8*8 + 2*8*4
   * + 8*8 + 3*8*16 + 2*8) = 1 x 592. embedding 100*8, head 100*8, other 8. */
  { "bamba", USUAL ", 'attn_layer_indices': [1], 'mamba_n_heads': 4, 'mamba_n_groups': 1, "
    "'mamba_d_state': 5, 'mamba_d_conv': 4, 'mamba_expand': 2",
    3254, 3254, 1054, 800, 800 },
  /* 1 x (8*(16 + 26 + 4) + 26*5 + 3*4 + 16 + 16*8 + 8*4 + 4*3*8*16 + 3*8*10 + 2*8) = 1 x 2478;
   * active 1710. 1 x (8*8 + 2*8*4 + 8*8 + 8*4 + 4*3*8*16 + 3*8*10 + 2*8) = 1 x 2016; active
   * 1248. embedding 100*8, head 100*8, other 8. */
  { "granitemoehybrid", USUAL ", 'layer_types': ['mamba', 'attention'], 'mamba_n_heads': 4, 'mamba_n_groups': "
    "1, 'mamba_d_state': 5, 'num_local_experts': 4, 'num_experts_per_tok': 2, "
    "'shared_intermediate_size': 10",
    6102, 4566, 2478, 800, 800 },
  /* 1 x (8*(2*6 + 2*20) + 8*2*4 + (2*6 + 20)*4 + 2*4 + 5 + 20*8 + 8*4 + 4*3*8*6 + 3*8*10 + 8 +
   * 2*8) = 1 x 1653; active 1365. 1 x (8*16 + 8*16 + 2*8*8 + 16*8 + 2*4 + 8*4 + 4*3*8*6 +
   * 3*8*10 + 8 + 2*8) = 1 x 1392; active 1104. embedding 100*8, head 100*8, other 8. */
  { "qwen3_next", USUAL ", 'head_dim': 4, 'full_attention_interval': 2, 'linear_num_value_heads': 4, "
    "'linear_num_key_heads': 2, 'linear_key_head_dim': 3, 'linear_value_head_dim': "
    "5, 'num_experts': 4, 'num_experts_per_tok': 2, 'moe_intermediate_size': 6, "
    "'shared_expert_intermediate_size': 10",
    4653, 4077, 1653, 800, 800 },
  /* 1 x (2*384*384 + 2*384*192 + 3*384*512 + 2*384) = 1 x 1032960. 1 x (3*384*256 + 384) = 1 x
   * 295296. 1 x (384*384 + 384) = 1 x 147840. embedding 100*384, head 100*384, other 384. */
  { "nemotron-nas", "'hidden_size': 384, 'num_attention_heads': 4, 'num_hidden_layers': 3, "
    "'vocab_size': 100, 'block_configs': [{'attention': {'n_heads_in_group': 2}, "
    "'ffn': {'ffn_mult': 1.5}}, {'attention': {'no_op': true}, 'ffn': {'ffn_mult': "
    "1}}, {'attention': {'replace_with_linear': true}, 'ffn': {'no_op': true}}]",
    1553280, 1553280, 1032960, 38400, 38400 },
};
/* clang-format on */

static char *
json_of (const char *text)
{
  return g_strdelimit (g_strdup (text), "'", '"');
}

/* Reads a config whose text has ' for "; the messages, "" where it is read. */
static char *
read_config (const char *text, HfModel *model)
{
  g_autofree char *json = json_of (text);
  g_autoptr (Problems) problems = problems_new ();
  gboolean done = hf_config_read ("c.json", json, strlen (json), model, problems);

  assert_int_equal (done, problems_count (problems) == 0);
  return problems_format (problems, "");
}

/* The model of the text of a model file, as scenarios see it. */
static ScenarioFile *
load_model (const char *text)
{
  g_autofree char *scenario = g_strconcat (text, REST, NULL);
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file
      = scenario_file_load_text ("m.ini", "m.ini", scenario, strlen (scenario), NULL, problems);
  g_autofree char *messages = problems_format (problems, "");

  assert_string_equal (messages, "");
  return file;
}

static void
every_family_has_the_sum_of_its_tensors (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *wanted = &cases[i];
      g_autofree char *text
          = g_strdup_printf ("{ 'model_type': '%s', %s }", wanted->model_type, wanted->keys);
      HfModel model;
      g_autofree char *messages = read_config (text, &model);
      g_autoptr (ScenarioFile) file = NULL;
      ParamCount count;

      assert_string_equal (messages, "");
      file = load_model (model.text);
      count = params_count (&scenario_file_variant (file, 0)->model);
      if (count.total != wanted->total || count.active != wanted->active
          || count.block != wanted->block)
        print_error ("%s\n%s", text, model.text);
      assert_string_equal (model.model_type, wanted->model_type);
      assert_int_equal (count.total, wanted->total);
      assert_int_equal (count.active, wanted->active);
      assert_int_equal (count.block, wanted->block);
      assert_int_equal (count.embedding, wanted->embedding);
      assert_int_equal (count.head, wanted->head);
      hf_model_clear (&model);
    }
}

/* ---- encoder-decoders ---- */

#define T5_NAMES "'d_model': 8, 'd_ff': 16, 'd_kv': 3, 'num_heads': 4, 'vocab_size': 100"
#define BART_NAMES                                                                                 \
  "'d_model': 8, 'encoder_layers': 3, 'decoder_layers': 2, 'encoder_attention_heads': 4, "         \
  "'decoder_attention_heads': 4, 'encoder_ffn_dim': 16, 'decoder_ffn_dim': 16, 'vocab_size': 100"

#define T5_TEXT "hidden = 8\nheads = 4\nkv_heads = 4\nhead_dim = 3\nffn_hidden = 16\n"
#define BART_TEXT                                                                                  \
  "layers = 5\nencoder_layers = 3\nhidden = 8\nheads = 4\nkv_heads = 4\nhead_dim = 2\n"            \
  "attention_bias = true\nffn_hidden = 16\ngated_ffn = false\nmlp_bias = true\n"

typedef struct
{
  const char *model_type;
  const char *keys;
  const char *text; /* all keys of the model but title and provenance */
  gint64 total;
} Pair;

/* T5's: encoder's blocks x (4*8*12 + matrices of 8*16 + 2*8), decoder's x (8*8*12 + the same
 * matrices + 3*8), 2*8, 2*buckets*4; 100*8, or twice that untied. BART's: 3 x (4*(8 + 1)*8 +
 * (8 + 1)*16 + (16 + 1)*8 + 4*8) = 3 x 600, 2 x (600 + 4*(8 + 1)*8 + 2*8) = 2 x 904, 100*8; 2*8 for
 * each norm outside, 8 for each row of positions. */
static const Pair encoder_decoders[] = {
  /* 3 x 656 + 2 x 1048 + 16 + 40 + 800 */
  { "t5",
    T5_NAMES ", 'num_layers': 3, 'num_decoder_layers': 2, 'is_encoder_decoder': true, "
             "'relative_attention_num_buckets': 5, 'feed_forward_proj': 'relu', 'n_positions': 64",
    "layers = 5\nencoder_layers = 3\n" T5_TEXT "gated_ffn = false\nvocab = 100\n"
    "tied_embeddings = true\nrelative_positions = 5\n",
    4920 },
  /* 3 x 784 + 3 x 1176 + 16 + 256 + 1600: as many blocks of the decoder */
  { "t5",
    T5_NAMES ", 'num_layers': 3, 'num_decoder_layers': null, 'feed_forward_proj': 'gated-gelu', "
             "'is_gated_act': true, 'tie_word_embeddings': false",
    "layers = 6\nencoder_layers = 3\n" T5_TEXT "gated_ffn = true\nvocab = 100\n"
    "tied_embeddings = false\nrelative_positions = 32\n",
    7752 },
  { "t5",
    "'hidden_size': 8, 'd_ff': 16, 'head_dim': 3, 'num_attention_heads': 4, 'vocab_size': 100, "
    "'num_hidden_layers': 3, 'is_gated_act': true, 'tie_word_embeddings': false",
    "layers = 6\nencoder_layers = 3\n" T5_TEXT "gated_ffn = true\nvocab = 100\n"
    "tied_embeddings = false\nrelative_positions = 32\n",
    7752 },
  { "mt5", T5_NAMES ", 'num_layers': 3",
    "layers = 6\nencoder_layers = 3\n" T5_TEXT "gated_ffn = true\nvocab = 100\n"
    "tied_embeddings = false\nrelative_positions = 32\n",
    7752 },
  /* 12 rows of positions, two more than are used, and a norm */
  { "bart",
    BART_NAMES
    ", 'max_position_embeddings': 10, 'is_encoder_decoder': true, 'num_hidden_layers': 3",
    BART_TEXT "norm_placement = post\nvocab = 100\ntied_embeddings = true\npositions = 12\n"
              "norm = layernorm\nnorm_bias = true\nouter_norms = embedding\n",
    4632 },
  { "plbart", BART_NAMES ", 'max_position_embeddings': 10",
    BART_TEXT "norm_placement = post\nvocab = 100\ntied_embeddings = true\npositions = 12\n"
              "norm = layernorm\nnorm_bias = true\nouter_norms = embedding\n",
    4632 },
  { "mbart", BART_NAMES ", 'max_position_embeddings': 10",
    BART_TEXT "vocab = 100\ntied_embeddings = true\npositions = 12\n"
              "norm = layernorm\nnorm_bias = true\nouter_norms = embedding_and_final\n",
    4664 },
  { "m2m_100", BART_NAMES ", 'max_position_embeddings': 10",
    BART_TEXT "vocab = 100\ntied_embeddings = true\nnorm = layernorm\nnorm_bias = true\n", 4440 },
  { "pegasus", BART_NAMES,
    BART_TEXT "vocab = 100\ntied_embeddings = true\nnorm = layernorm\nnorm_bias = true\n", 4440 },
  { "marian", BART_NAMES ", 'decoder_vocab_size': 100",
    BART_TEXT "norm_placement = post\nvocab = 100\ntied_embeddings = true\n"
              "norm = layernorm\nnorm_bias = true\nouter_norms = none\n",
    4408 },
  { "blenderbot", BART_NAMES ", 'max_position_embeddings': 10",
    BART_TEXT "vocab = 100\ntied_embeddings = true\npositions = 10\n"
              "norm = layernorm\nnorm_bias = true\n",
    4600 },
  { "blenderbot-small", BART_NAMES ", 'max_position_embeddings': 10",
    BART_TEXT "norm_placement = post\nvocab = 100\ntied_embeddings = true\npositions = 10\n"
              "norm = layernorm\nnorm_bias = true\nouter_norms = embedding\n",
    4600 },
};

static gint64
total_of (const char *text)
{
  g_autoptr (ScenarioFile) file = load_model (text);

  return params_count (&scenario_file_variant (file, 0)->model).total;
}

static char *
read_pair (const char *model_type, const char *keys, HfModel *model)
{
  g_autofree char *text = g_strdup_printf ("{ 'model_type': '%s', %s }", model_type, keys);

  return read_config (text, model);
}

static void
encoder_decoders_have_the_keys_of_both_stacks (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (encoder_decoders); i++)
    {
      const Pair *wanted = &encoder_decoders[i];
      HfModel model;
      g_autofree char *messages = read_pair (wanted->model_type, wanted->keys, &model);
      g_autofree char *text
          = g_strdup_printf ("[model]\ntitle = %s\nprovenance = c.json of Hugging Face, "
                             "model_type %s\n%s",
                             wanted->model_type, wanted->model_type, wanted->text);

      assert_string_equal (messages, "");
      assert_string_equal (model.text, text);
      hf_model_clear (&model);
    }
}

static void
encoder_decoders_have_the_sum_of_their_tensors (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (encoder_decoders); i++)
    {
      const Pair *wanted = &encoder_decoders[i];
      HfModel model;
      g_autofree char *messages = read_pair (wanted->model_type, wanted->keys, &model);

      assert_string_equal (messages, "");
      if (total_of (model.text) != wanted->total)
        print_error ("%s: %s\n", wanted->model_type, wanted->keys);
      assert_int_equal (total_of (model.text), wanted->total);
      hf_model_clear (&model);
    }
}

#define T5_SIZES(width, inner, layers, heads, width_of_head, vocab)                                \
  "'d_model': " #width ", 'd_ff': " #inner ", 'num_layers': " #layers ", 'num_heads': " #heads     \
  ", 'd_kv': " #width_of_head ", 'vocab_size': " #vocab
#define GATED ", 'feed_forward_proj': 'gated-gelu', 'tie_word_embeddings': false"
#define BART_SIZES(width, inner, encoders, decoders, heads, vocab)                                 \
  "'d_model': " #width ", 'encoder_ffn_dim': " #inner ", 'decoder_ffn_dim': " #inner               \
  ", 'encoder_layers': " #encoders ", 'decoder_layers': " #decoders                                \
  ", 'encoder_attention_heads': " #heads ", 'decoder_attention_heads': " #heads                    \
  ", 'vocab_size': " #vocab

/* What is published of them, or counted from their checkpoints. */
static const Pair published[] = {
  /* t5-small, -base, -large, -3b, -11b */
  { "t5", T5_SIZES (512, 2048, 6, 8, 64, 32128), NULL, 60506624 },
  { "t5", T5_SIZES (768, 3072, 12, 12, 64, 32128), NULL, 222903552 },
  { "t5", T5_SIZES (1024, 4096, 24, 16, 64, 32128), NULL, 737668096 },
  { "t5", T5_SIZES (1024, 16384, 24, 32, 128, 32128), NULL, 2851598336 },
  { "t5", T5_SIZES (1024, 65536, 24, 128, 128, 32128), NULL, 11307321344 },
  /* flan-t5-base, -xl, -xxl */
  { "t5", T5_SIZES (768, 2048, 12, 12, 64, 32128) GATED, NULL, 247577856 },
  { "t5", T5_SIZES (2048, 5120, 24, 32, 64, 32128) GATED, NULL, 2849757184 },
  { "t5", T5_SIZES (4096, 10240, 24, 64, 64, 32128) GATED, NULL, 11135332352 },
  /* byt5-small: a decoder of fewer blocks */
  { "t5", T5_SIZES (1472, 3584, 12, 6, 64, 384) GATED ", 'num_decoder_layers': 4", NULL,
    299637760 },
  /* mt5-small, -xxl */
  { "mt5", T5_SIZES (512, 1024, 8, 6, 64, 250112), NULL, 300176768 },
  { "mt5", T5_SIZES (4096, 10240, 24, 64, 64, 250112), NULL, 12921057280 },
  /* bart-base, -large; mbart-large-50 */
  { "bart", BART_SIZES (768, 3072, 6, 6, 12, 50265), NULL, 139420416 },
  { "bart", BART_SIZES (1024, 4096, 12, 12, 16, 50265), NULL, 406291456 },
  { "mbart", BART_SIZES (1024, 4096, 12, 12, 16, 250054), NULL, 610879488 },
  /* m2m100_418M, nllb-200-3.3B */
  { "m2m_100", BART_SIZES (1024, 4096, 12, 12, 16, 128112), NULL, 483905536 },
  { "m2m_100", BART_SIZES (2048, 8192, 24, 24, 16, 256206), NULL, 3344863232 },
  /* pegasus-xsum, opus-mt-en-de: 569,748,480 and 74,410,496 with their sines */
  { "pegasus", BART_SIZES (1024, 4096, 16, 16, 16, 96103), NULL, 569748480 - 2 * 512 * 1024 },
  { "marian", BART_SIZES (512, 2048, 6, 6, 8, 58101), NULL, 74410496 - 2 * 512 * 512 },
};

static void
known_encoder_decoders_are_as_large_as_published (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (published); i++)
    {
      HfModel model;
      g_autofree char *messages = read_pair (published[i].model_type, published[i].keys, &model);

      assert_string_equal (messages, "");
      assert_int_equal (total_of (model.text), published[i].total);
      hf_model_clear (&model);
    }
}

/* ---- what is not a model, or not a good one ---- */

typedef struct
{
  const char *text;
  const char *message;
} Refusal;

static const Refusal refusals[] = {
  { "", "c.json: the file is empty" },
  { " \n\t", "c.json: the file is empty" },
  { "version https://git-lfs.github.com/spec/v1\n", "c.json: a Git LFS pointer" },
  { "{\n  // width\n}", "c.json:2:3: a comment: JSON has none" },
  { "{ \"a\": [1, 2,] }", "c.json:1:13: a comma before ']'" },
  { "{ \"a\": 1 }\n{ \"a\": 1 }", "c.json:2:1: more data after the first object" },
  { "{ \"a\": { \"b\": 1 ", "c.json:1:8: the file ends before this '{' is closed" },
  { "{ \"a\": \"b", "c.json:1:8: the file ends inside this string" },
  { "{ \"a\": 010 }", "c.json:1:8: not a number of JSON" },
  { "{ \"a\": 0x10 }", "c.json:1:8: not a number of JSON" },
  { "{ \"a\": True }", "c.json:1:8: True: a Python dict, not JSON" },
  { "{ \"a\" 1 }", "c.json:1:1: " },
  { "[{}]", "c.json:1:1: an array; one object is expected" },
  { "{}", "c.json: model_type: missing" },
  { "{ 'architectures': ['XModel'] }", "c.json: model_type: missing; architectures says XModel" },
  { "{ 'hidden_dim': 8 }", "c.json:1:17: hidden_dim: not a name of Hugging Face's" },
  { "{ 'model_type': 'llame' }",
    "c.json:1:17: model_type: 'llame' is not known; did you mean 'llama'?" },
  { "{ 'model_type': 'x', 'num_experts': 4 }",
    "'x' is not known, and counting it like Llama would be wrong: experts (num_experts)" },
  { "{ 'model_type': 'bert' }", "c.json:1:17: model_type: 'bert': an encoder" },
  { "{ 'model_type': 'umt5' }",
    "c.json:1:17: model_type: 'umt5': an encoder-decoder with relative positions in every block" },
  { "{ 'model_type': 'led' }",
    "c.json:1:17: model_type: 'led': an encoder-decoder with local attention" },
  { "{ 'model_type': 'nllb-moe' }",
    "c.json:1:17: model_type: 'nllb-moe': an encoder-decoder with experts" },
  { "{ 'model_type': 'fsmt' }",
    "c.json:1:17: model_type: 'fsmt': an encoder-decoder whose blocks are not known here" },
  { "{ 'model_type': 'x', 'is_encoder_decoder': true }",
    "c.json:1:44: is_encoder_decoder: true: an encoder-decoder whose blocks are not known here" },
  { "{ 'model_type': 'clip', 'text_config': { 'model_type': 'llama', " USUAL " } }",
    "c.json:1:17: model_type: 'clip': a vision model" },
  { "{ 'model_type': 'llama', 'is_encoder_decoder': true, " USUAL " }",
    "c.json:1:48: is_encoder_decoder: true: an encoder-decoder" },
  { "{ 'peft_type': 'LORA' }", "c.json:1:16: peft_type: a PEFT adapter" },
  { "{ '_class_name': 'UNet' }", "c.json:1:18: _class_name: a diffusers component" },
  { "{ 'zero_optimization': {} }", "zero_optimization: a DeepSpeed configuration" },
  { "{ 'model_type': 7 }", "c.json:1:17: model_type: a number; a string is expected" },
  { "{ 'model_type': 'llama', 'text_config': 3, " USUAL " }",
    "c.json:1:41: text_config: a number; an object is expected" },
};

static void
assert_message (const char *text, const char *messages, const char *message)
{
  if (strstr (messages, message) == NULL)
    print_error ("%s\nsays: %sand not: %s\n", text, messages, message);
  assert_non_null (strstr (messages, message));
}

static void
other_files_are_refused_by_their_kind (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      HfModel model;
      g_autofree char *messages = read_config (refusals[i].text, &model);

      assert_message (refusals[i].text, messages, refusals[i].message);
    }
}

/* One key of a good config, changed. */
static const Refusal bad_values[] = {
  { "'hidden_size': '8'", "hidden_size: a string; a whole number without quotes is expected" },
  { "'hidden_size': 8.0", "hidden_size: a number with a fraction or an exponent; a whole number" },
  { "'hidden_size': 0", "hidden_size: 0 is out of range; 1 to 1048576 would do" },
  { "'hidden_size': -8", "hidden_size: -8 is out of range" },
  { "'hidden_size': 1099511627776", "hidden_size: 1099511627776 is out of range" },
  { "'hidden_size': 123456789012345678901234567890", "hidden_size: 1.235e+29 is out of range" },
  { "'hidden_size': NaN", "hidden_size: not a finite number" },
  { "'hidden_size': [8]", "hidden_size: a list; a whole number" },
  { "'hidden_size': null",
    "hidden_size: null, a whole number is expected (also known as n_embd, d_model, n_embed); "
    "LlamaConfig's default would be another model's" },
  { "'intermediate_size': null", "intermediate_size: null, a whole number is expected" },
  { "'num_hidden_layers': 100001", "num_hidden_layers: 100001 is out of range; 1 to 10000" },
  { "'num_attention_heads': 3", "num_key_value_heads: 2 does not divide the 3 heads" },
  { "'tie_word_embeddings': 1", "tie_word_embeddings: a number; true or false is expected" },
  { "'vocab_size': true", "vocab_size: true or false; a whole number" },
};

static void
bad_values_are_refused_with_their_place (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (bad_values); i++)
    {
      g_autofree char *text
          = g_strdup_printf ("{ 'model_type': 'llama', " USUAL ",\n  %s }", bad_values[i].text);
      HfModel model;
      g_autofree char *messages = read_config (text, &model);

      assert_message (text, messages, bad_values[i].message);
      assert_message (text, messages, "c.json:");
    }
}

typedef struct
{
  const char *model_type;
  const char *keys;
  const char *message;
} BadPair;

/* A later value of a key counts. */
static const BadPair bad_pairs[] = {
  { "t5", T5_NAMES, "num_hidden_layers: missing (also known as num_layers)" },
  { "t5", T5_NAMES ", 'num_layers': 0", "num_layers: 0 is out of range; 1 to 10000 would do" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'num_decoder_layers': 0",
    "num_decoder_layers: 0 is out of range" },
  { "t5", T5_NAMES ", 'num_layers': 9000, 'num_decoder_layers': 1001",
    "num_decoder_layers: 1001 blocks of the decoder beside 9000 of the encoder; at most 10000" },
  { "t5", T5_NAMES ", 'num_layers': 5001",
    "num_decoder_layers: 5001 blocks of the decoder beside 5001 of the encoder" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'd_ff': null", "d_ff: null, a whole number is expected" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'd_kv': '3'", "d_kv: a string; a whole number" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'feed_forward_proj': 3", "feed_forward_proj: a number" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'feed_forward_proj': 'relu', 'is_gated_act': true",
    "is_gated_act: true, and feed_forward_proj says 'relu'" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'relative_attention_num_buckets': 0",
    "relative_attention_num_buckets: 0 is out of range; 1 to 65536 would do" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'architectures': ['T5EncoderModel']",
    "architectures: T5EncoderModel: the encoder alone; only both stacks together are simulated" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'is_encoder_decoder': false",
    "is_encoder_decoder: false: one of the two stacks alone" },
  { "t5", T5_NAMES ", 'num_layers': 2, 'tie_encoder_decoder': true",
    "tie_encoder_decoder: true: encoder and decoder share their weights" },
  { "bart", BART_NAMES ", 'architectures': ['BartForCausalLM']",
    "architectures: BartForCausalLM: the decoder alone" },
  { "bart", BART_NAMES ", 'decoder_attention_heads': 2",
    "decoder_attention_heads: 2, and the encoder has 4; stacks whose blocks differ" },
  { "bart", BART_NAMES ", 'decoder_ffn_dim': 32", "decoder_ffn_dim: 32, and the encoder has 16" },
  { "bart", BART_NAMES ", 'decoder_ffn_dim': null",
    "decoder_ffn_dim: null, a whole number is expected; BartConfig's default would be another "
    "model's" },
  { "bart", BART_NAMES ", 'decoder_layers': 0", "decoder_layers: 0 is out of range" },
  { "bart", BART_NAMES ", 'encoder_layers': 0", "encoder_layers: 0 is out of range" },
  { "bart", BART_NAMES ", 'd_model': 10",
    "encoder_attention_heads: 4 heads do not divide a d_model of 10" },
  { "marian", BART_NAMES ", 'decoder_vocab_size': 99",
    "decoder_vocab_size: 99, and vocab_size is 100" },
  { "marian", BART_NAMES ", 'share_encoder_decoder_embeddings': false",
    "share_encoder_decoder_embeddings: false: an embedding for each stack" },
};

/* Each says one thing. */
static void
bad_stacks_are_refused (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (bad_pairs); i++)
    {
      HfModel model;
      g_autofree char *messages = read_pair (bad_pairs[i].model_type, bad_pairs[i].keys, &model);

      assert_message (bad_pairs[i].keys, messages, bad_pairs[i].message);
      assert_null (strstr (messages + 1, "c.json"));
    }
}

/* The place is that of the value, in its own line. */
static void
places_are_those_of_values (void **state)
{
  HfModel model;
  g_autofree char *messages
      = read_config ("{ 'model_type': 'llama',\n  'num_hidden_layers': 'x', " USUAL_HEADS " ,\n"
                     "  'vocab_size' :  -1 }",
                     &model);

  (void)state;
  assert_message ("", messages, "c.json:3:19: vocab_size: -1 is out of range");
}

/* ---- what is said ---- */

static gboolean
notes_have (const HfModel *model, const char *text)
{
  for (guint i = 0; i < model->notes->len; i++)
    if (strstr (g_ptr_array_index (model->notes, i), text) != NULL)
      return TRUE;
  return FALSE;
}

typedef struct
{
  const char *text;
  const char *note;
} Note;

static const Note notes[] = {
  { "{'model_type': 'granite', " USUAL "}", "share embedding and head" },
  { "{ 'model_type': 'llama', " USUAL " }",
    "not given, LlamaConfig's defaults: attention_bias = false, mlp_bias = false, "
    "tie_word_embeddings = false" },
  { "{ 'model_type': 'gemma', " USUAL " }", "head_dim = 256" },
  { "{ 'model_type': 'llama', " USUAL ", 'rms_norm_eps': NaN }", "NaN is Python's, not JSON's" },
  { "{ 'model_type': 'llama', " USUAL ", 'vocab_size': 100 }",
    "line 1: vocab_size is given twice; the last one counts" },
  { "{ 'model_type': 'llama', " USUAL ", 'quantization_config': {} }", "quantized on disk" },
  { "{ 'model_type': 'llama', " USUAL ", 'num_nextn_predict_layers': 1 }", "(MTP) is not in" },
  { "{ 'model_type': 'qwen3_vl', 'text_config': { 'model_type': 'qwen3_vl_text', " USUAL
    " }, 'tie_word_embeddings': true }",
    "the language model alone, from text_config" },
  { "{ 'model_type': 't5', " T5_NAMES ", 'num_layers': 2 }",
    "not given, T5Config's defaults: tie_word_embeddings = true, is_gated_act = false, "
    "relative_attention_num_buckets = 32" },
  { "{ 'model_type': 'bart', " BART_NAMES " }", "max_position_embeddings = 1024" },
  { "{ 'model_type': 'pegasus', " BART_NAMES ", 'max_position_embeddings': 10 }",
    "positions are sines in weights that are not trained; these 2 x 10 x 8 are not in" },
};

static void
assumptions_are_said (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (notes); i++)
    {
      HfModel model;
      g_autofree char *messages = read_config (notes[i].text, &model);

      assert_string_equal (messages, "");
      if (!notes_have (&model, notes[i].note))
        print_error ("no note: %s\n", notes[i].note);
      assert_true (notes_have (&model, notes[i].note));
      hf_model_clear (&model);
    }
}

/* Only the outer object says it; null is as many key heads as others, not none. */
static void
an_outer_object_and_null_count (void **state)
{
  HfModel model;
  g_autofree char *messages = read_config (
      "{ 'model_type': 'x', 'tie_word_embeddings': true, 'text_config': { 'model_type': "
      "'qwen2', " USUAL_HEADS ", 'num_key_value_heads': null } }",
      &model);

  (void)state;
  assert_string_equal (messages, "");
  assert_non_null (strstr (model.text, "tied_embeddings = true\n"));
  assert_non_null (strstr (model.text, "kv_heads = 4\n"));
  hf_model_clear (&model);
}

/* ---- blocks that differ ---- */

/* Every sixth block attends to all; the order repeats itself. */
static void
orders_are_written_as_short_as_they_repeat (void **state)
{
  HfModel model;
  g_autofree char *messages
      = read_config ("{ 'model_type': 'gemma3_text', 'hidden_size': 8, 'intermediate_size': 16, "
                     "'num_hidden_layers': 13, 'sliding_window': 32 }",
                     &model);

  (void)state;
  assert_string_equal (messages, "");
  assert_non_null (strstr (model.text, "\nsliding_window = 32\n"));
  assert_non_null (strstr (model.text, "\nblock_kinds = full: sliding_window=0\n"));
  assert_non_null (strstr (model.text, "\nblock_order = 5*base full\n"));
  hf_model_clear (&model);
}

static void
a_first_dense_layer_is_a_kind (void **state)
{
  HfModel model;
  g_autofree char *messages = read_config (
      "{ 'model_type': 'deepseek', " USUAL_HEADS ", 'num_hidden_layers': 4, 'n_routed_experts': "
      "4, 'num_experts_per_tok': 2, 'moe_intermediate_size': 6, 'first_k_dense_replace': 1 }",
      &model);
  g_autoptr (ScenarioFile) file = NULL;
  const ModelConfig *config;

  (void)state;
  assert_string_equal (messages, "");
  assert_non_null (strstr (model.text, "\nblock_order = dense 3*base\n"));
  file = load_model (model.text);
  config = &scenario_file_variant (file, 0)->model;
  assert_int_equal (config->n_kinds, 2);
  assert_int_equal (model_kind (config, model_kind_of_block (config, 0))->experts, 0);
  assert_int_equal (model_kind (config, model_kind_of_block (config, 0))->ffn_hidden, 16);
  assert_int_equal (model_kind (config, model_kind_of_block (config, 3))->experts, 4);
  hf_model_clear (&model);
}

/* Text of other people stays text: no line ends, no comments. */
static void
odd_names_stay_in_their_line (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autofree char *json = json_of ("{ 'model_type': 'llama', " USUAL " }");
  g_autoptr (ScenarioFile) file = NULL;
  HfModel model;

  (void)state;
  assert_true (hf_config_read ("a\n# b/config.json", json, strlen (json), &model, problems));
  file = load_model (model.text);
  assert_string_equal (scenario_file_variant (file, 0)->model.name, "a   b");
  hf_model_clear (&model);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_family_has_the_sum_of_its_tensors),
    cmocka_unit_test (other_files_are_refused_by_their_kind),
    cmocka_unit_test (encoder_decoders_have_the_keys_of_both_stacks),
    cmocka_unit_test (encoder_decoders_have_the_sum_of_their_tensors),
    cmocka_unit_test (known_encoder_decoders_are_as_large_as_published),
    cmocka_unit_test (bad_values_are_refused_with_their_place),
    cmocka_unit_test (bad_stacks_are_refused),
    cmocka_unit_test (places_are_those_of_values),
    cmocka_unit_test (assumptions_are_said),
    cmocka_unit_test (an_outer_object_and_null_count),
    cmocka_unit_test (orders_are_written_as_short_as_they_repeat),
    cmocka_unit_test (a_first_dense_layer_is_a_kind),
    cmocka_unit_test (odd_names_stay_in_their_line),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
