#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/keys_foreign.h"
#include "config/keys_unknown.h"
#include "config_fixture.h"

typedef struct
{
  const char *lines; /* behind the four of TINY, so from line 5 on */
  const char *says;  /* how the first mistake begins: place, section, key, message */
} MistakeCase;

static void
assert_cases (const MistakeCase *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strconcat (TINY, cases[i].lines, NULL);
      g_autofree char *messages = fixture_mistakes (text, NULL);

      if (!g_str_has_prefix (messages, cases[i].says))
        print_error ("%s:\n%s\nand not\n%s\n", cases[i].lines, messages, cases[i].says);
      assert_true (g_str_has_prefix (messages, cases[i].says));
    }
}

/* ---- names ---- */

static const MistakeCase names[] = {
  { "[trainning]\n", "s.ini:5:1: [trainning] unknown section; did you mean 'training'?" },
  { "[gpus]\n", "s.ini:5:1: [gpus] unknown section; did you mean 'gpu'?" },
  { "[variants a]\n", "s.ini:5:1: [variants a] unknown section; " },
  { "[parallelism]\n",
    "s.ini:5:1: [parallelism] unknown section; one of scenario, model, gpu, cluster, software, "
    "training, fsdp, activation_checkpointing, timing, simulation, reliability, sweep, "
    "variant NAME" },
  { "[training]\n  microbatch = 3\n",
    "s.ini:6:3: [training] microbatch: unknown key; did you mean 'micro_batch'?" },
  { "[training]\nlayers = 3\n",
    "s.ini:6:1: [training] layers: unknown key; it belongs to [model]" },
  { "[training]\ncompile = true\n",
    "s.ini:6:1: [training] compile: unknown key; it belongs to [software]" },
  { "[training]\nCUDA_DEVICE_MAX_CONNECTIONS = 1\n",
    "s.ini:6:1: [training] CUDA_DEVICE_MAX_CONNECTIONS: unknown key; here it is "
    "'simulation.cuda_device_max_connections'" },
  { "[training]\ntorch_compile = true\n",
    "s.ini:6:1: [training] torch_compile: unknown key; here it is 'software.compile'" },
  { "[variant a]\ngradient_accumulation_steps = 2\n",
    "s.ini:6:1: [variant a] gradient_accumulation_steps: expected section.key; here it is "
    "'training.grad_accum'" },
  { "[fsdp]\nsync_module_states = true\n", "s.ini:6:1: [fsdp] sync_module_states: unknown key; "
                                           "nothing here stands for it, since it counts "
                                           "before the first step alone" },
  { "[variant a]\nparallelism.pipeline_parallel_degree = 2\n",
    "s.ini:6:1: [variant a] parallelism.pipeline_parallel_degree: pipeline parallelism is not "
    "modelled" },
  { "[fsdp]\nzero_stage = 3\n",
    "s.ini:6:1: [fsdp] zero_stage: unknown key; nothing here stands for it, since DeepSpeed is not "
    "simulated" },
  { "[fsdp]\nreshard_after_foward = true\n",
    "s.ini:6:1: [fsdp] reshard_after_foward: unknown key; did you mean 'reshard_after_forward'?" },
  { "[timing]\nfoward = 4ms\n",
    "s.ini:6:1: [timing] foward: unknown key; did you mean 'forward'?" },
  { "[training]\nseq_len=1\n\n[training]\nseq_len=2\n",
    "s.ini:8:1: [training] given twice, first in line 5" },
  { "[training]\nseq_len=1\nseq_len=1\n",
    "s.ini:7:1: [training] seq_len: given twice, first in line 6" },
  { "[variant a]\n[variant b]\n[variant  a]\n",
    "s.ini:7:1: [variant  a] given twice, first in line 5" },
  { "[variant a]\ntraining.seq_len=1\ntraining.seq_len=1\n",
    "s.ini:7:1: [training] seq_len: given twice, first in line 6" },
  { "[variant a]\ntraining.microbatch = 2\n",
    "s.ini:6:1: [variant a] training.microbatch: unknown key; did you mean 'micro_batch'?" },
  { "[variant a]\nmicro_batch = 2\n", "s.ini:6:1: [variant a] micro_batch: expected section.key; "
                                      "did you mean 'training.micro_batch'?" },
  { "[variant a]\ntrainig.micro_batch = 2\n",
    "s.ini:6:1: [variant a] trainig.micro_batch: unknown section; did you mean 'training'?" },
  { "[variant]\n", "s.ini:5:1: [variant] a variant needs a name: [variant NAME]" },
  { "[variant a/b]\n", "s.ini:5:1: [variant a/b] a variant's name has no '/'" },
  { "[variant ..]\n", "s.ini:5:1: [variant ..] a variant's name begins with neither" },
  { "[variant -rf]\n", "s.ini:5:1: [variant -rf] a variant's name begins with neither" },
  { "[variant a\x01]\n", "s.ini:5:1: [variant a?] a variant's name has no '/'" },
  { "[variant aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n",
    "s.ini:5:1: [variant aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa] a "
    "variant's name has at most 64 characters" },
};

static void
unknown_and_repeated_names_are_mistakes (void **state)
{
  (void)state;
  assert_cases (names, G_N_ELEMENTS (names));
}

/* The section is unknown, as are its keys, but one of them asks for what is not simulated. */
static void
keys_of_unknown_sections_are_looked_at (void **state)
{
  (void)state;
  g_autofree char *messages = fixture_mistakes (
      TINY "[parallelism]\ndata_parallel = 2\ntensor_parallel_degree = 2\n", NULL);

  assert_true (g_str_has_prefix (messages, "s.ini:5:1: [parallelism] unknown section"));
  assert_non_null (strstr (messages, "\ns.ini:7:1: [parallelism] tensor_parallel_degree: tensor "
                                     "parallelism is not modelled"));
  assert_null (strstr (messages, "s.ini:6"));
}

/* By the names that other programs give them. */
static const MistakeCase parallelisms[] = {
  { "[fsdp]\ntp_size = 4\n", "s.ini:6:1: [fsdp] tp_size: tensor parallelism is not modelled" },
  { "[training]\ntensor_parallel_degree = 4\n",
    "s.ini:6:1: [training] tensor_parallel_degree: tensor parallelism is not modelled" },
  { "[training]\ntensor_model_parallel_size = 4\n",
    "s.ini:6:1: [training] tensor_model_parallel_size: tensor parallelism is not modelled" },
  { "[cluster]\npp = 4\n", "s.ini:5:1: [cluster] given twice" },
  { "pipeline-parallel-size = 4\n",
    "s.ini:5:1: [cluster] pipeline-parallel-size: pipeline parallelism is not modelled" },
  { "pp_degree = 4\n", "s.ini:5:1: [cluster] pp_degree: pipeline parallelism is not modelled" },
  { "context_parallel_size = 4\n",
    "s.ini:5:1: [cluster] context_parallel_size: context parallelism is not modelled" },
  { "cp = 4\n", "s.ini:5:1: [cluster] cp: context parallelism is not modelled" },
  { "expert_parallel_size = 4\n",
    "s.ini:5:1: [cluster] expert_parallel_size: expert parallelism is not modelled" },
  { "ep_size = 4\n", "s.ini:5:1: [cluster] ep_size: expert parallelism is not modelled" },
  { "sequence_parallel = true\n",
    "s.ini:5:1: [cluster] sequence_parallel: sequence parallelism is not modelled" },
  { "[tensor_parallel]\nsize = 4\n",
    "s.ini:5:1: [tensor_parallel] tensor parallelism is not modelled" },
  { "[variant a]\nfsdp.tp_size = 4\n",
    "s.ini:6:1: [variant a] fsdp.tp_size: tensor parallelism is not modelled" },
  { "[variant a]\ntensor_parallel.size = 4\n",
    "s.ini:6:1: [variant a] tensor_parallel.size: tensor parallelism is not modelled" },
  { "[variant a]\ntp_size = 4\n",
    "s.ini:6:1: [variant a] tp_size: tensor parallelism is not modelled" },
};

static void
other_parallelisms_are_refused_by_name (void **state)
{
  (void)state;
  assert_cases (parallelisms, G_N_ELEMENTS (parallelisms));
}

/* ---- values ---- */

static const MistakeCase values[] = {
  { "[training]\nmicro_batch =\n",
    "s.ini:6:14: [training] micro_batch: no value; expected a whole" },
  { "[training]\nmicro_batch = # 1\n", "s.ini:6:14: [training] micro_batch: no value" },
  { "[training]\nmicro_batch = 0\n",
    "s.ini:6:15: [training] micro_batch: '0' is out of range; 1 to 1048576 would do" },
  { "[training]\nmicro_batch = -1\n", "s.ini:6:15: [training] micro_batch: negative" },
  { "[training]\nmicro_batch = 1.5\n",
    "s.ini:6:15: [training] micro_batch: '1.5' is no whole number" },
  { "[training]\nmicro_batch = auto\n", "s.ini:6:15: [training] micro_batch: not a number" },
  { "[training]\nmicro_batch = 99999999999999999999\n",
    "s.ini:6:15: [training] micro_batch: '99999999999999999999' is too large" },
  { "[training]\nmax_grad_norm = 1%\n", "s.ini:6:17: [training] max_grad_norm: unexpected '%'" },
  { "[training]\nno_sync = yes\n",
    "s.ini:6:11: [training] no_sync: unknown value 'yes'; one of false, true" },
  { "[training]\nno_sync = True\n",
    "s.ini:6:11: [training] no_sync: unknown value 'True'; did you mean 'true'?" },
  { "[training]\noptimizer =\n", "s.ini:6:12: [training] optimizer: no value; one of adamw, " },
  { "[fsdp]\napi = FSDP2\n",
    "s.ini:6:7: [fsdp] api: unknown value 'FSDP2'; did you mean 'fsdp2'?" },
  { "[fsdp]\nsharding_strategy = FULL\n", "s.ini:6:21: [fsdp] sharding_strategy: unknown value "
                                          "'FULL'; did you mean 'FULL_SHARD'?" },
  { "[fsdp]\nparam_dtype = fp8\n", "s.ini:6:15: [fsdp] param_dtype: unknown value 'fp8'; " },
  { "[fsdp]\nreshard_after_forward = yes\n", "s.ini:6:25: [fsdp] reshard_after_forward: expected a "
                                             "group size or a word: unknown value 'yes'" },
  { "[fsdp]\nreshard_after_forward = 0\n",
    "s.ini:6:25: [fsdp] reshard_after_forward: '0' is out of range" },
  { "[fsdp]\ntorch = 1.13\n",
    "s.ini:6:9: [fsdp] torch: torch 1.13 is not known; 2.0 to 2.14 would do" },
  { "[fsdp]\ntorch = 2.15\n",
    "s.ini:6:9: [fsdp] torch: torch 2.15 is not known; 2.0 to 2.14 would do" },
  { "[fsdp]\ntorch = 3.0\n", "s.ini:6:9: [fsdp] torch: torch 3.0 is not known" },
  { "[fsdp]\ntorch = 2.99999999999999999999\n",
    "s.ini:6:9: [fsdp] torch: torch 2.99999999999999999999 is not known" },
  { "[fsdp]\ntorch = 2\n", "s.ini:6:9: [fsdp] torch: '2' is no version; expected one such as 2.8" },
  { "[fsdp]\ntorch = 2.\n", "s.ini:6:9: [fsdp] torch: '2.' is no version" },
  { "[fsdp]\ntorch = 2.8+\n", "s.ini:6:9: [fsdp] torch: '2.8+' is no version" },
  { "[fsdp]\ntorch = v2.8\n", "s.ini:6:9: [fsdp] torch: 'v2.8' is no version" },
  { "[fsdp]\ntorch =\n", "s.ini:6:8: [fsdp] torch: " },
  { "[activation_checkpointing]\nselect = every\n",
    "s.ini:6:10: [activation_checkpointing] select: unknown value 'every'; did you mean "
    "'every:K'?" },
  { "[activation_checkpointing]\nselect = every:K\n",
    "s.ini:6:10: [activation_checkpointing] select: expected a number for K, such as every:2" },
  { "[activation_checkpointing]\nselect = every:0\n",
    "s.ini:6:10: [activation_checkpointing] select: '0' is out of range" },
  { "[training]\ntrainable = none\n",
    "s.ini:6:13: [training] trainable: unknown value 'none'; one of all, lora, head, last:K" },
  { "[training]\ntrainable = last:K\n",
    "s.ini:6:13: [training] trainable: expected a number for K, such as last:2" },
  { "[training]\ntrainable = last:0\n", "s.ini:6:13: [training] trainable: '0' is out of range" },
  { "[training]\nlora_targets = w_proj\n",
    "s.ini:6:16: [training] lora_targets: unknown module 'w_proj'; did you mean 'q_proj'?" },
  { "[training]\nlora_rank = 0\n", "s.ini:6:13: [training] lora_rank: '0' is out of range" },
  { "[training]\ntrainable = last:2.5\n", "s.ini:6:13: [training] trainable: " },
  { "[timing]\nforward = 4\n",
    "s.ini:6:11: [timing] forward: no unit; expected a time such as 4ms (ps, ns, us, ms" },
  { "[timing]\nforward = 4GB\n", "s.ini:6:11: [timing] forward: unknown unit 'GB'" },
  { "[timing]\nforward = 2h\n",
    "s.ini:6:11: [timing] forward: '2h' is out of range; 0s to 3600s would do" },
  { "[simulation]\ncompute_jitter = 0.03\n",
    "s.ini:6:18: [simulation] compute_jitter: no unit; expected a percentage such as 5%" },
  { "[simulation]\ncompute_jitter = 51%\n",
    "s.ini:6:18: [simulation] compute_jitter: '51%' is out of range; 0% to 50% would do" },
  { "[simulation]\nsteps = 0\n", "s.ini:6:9: [simulation] steps: '0' is out of range; 1 to 1000" },
  { "[simulation]\nstraggler = 1\n",
    "s.ini:6:13: [simulation] straggler: '1': expected RANK:FACTOR" },
  { "[simulation]\ndegraded_links = 0:0%\n",
    "s.ini:6:18: [simulation] degraded_links: '0%' is out of range; 1% to 100% would do" },
  { "[simulation]\nlate_hosts = 1:20\n", "s.ini:6:14: [simulation] late_hosts: " },
  { "[simulation]\nstraggler = 1:0\n", "s.ini:6:13: [simulation] straggler: '0' is out of range" },
  { "[simulation]\nstraggler = 1:2;;2:2\n", "s.ini:6:13: [simulation] straggler: '': expected" },
  { "[simulation]\nstraggler = 1:2;1:3\n",
    "s.ini:6:13: [simulation] straggler: number 1 is given twice" },
  { "[simulation]\nseed = -1\n", "s.ini:6:8: [simulation] seed: negative" },
  { "[gpu]\nmemory = 80\n", "s.ini:6:10: [gpu] memory: no unit; expected bytes such as 80GiB" },
  { "[gpu]\nmemory_bandwidth = 400Gb\n",
    "s.ini:6:20: [gpu] memory_bandwidth: unknown unit 'Gb'; expected a rate" },
  { "[gpu]\nmatmul_efficiency = 0%\n",
    "s.ini:6:21: [gpu] matmul_efficiency: '0%' is out of range; 0.0001% to 100% would do" },
  { "[gpu]\nmatmul_efficiency = 101%\n",
    "s.ini:6:21: [gpu] matmul_efficiency: '101%' is out of range" },
  { "[variant a]\ntraining.micro_batch = x\n", "s.ini:6:24: [training] micro_batch: not a number" },
  { "[scenario]\ntitle = a\x1B[31m\n", "s.ini:6:9: [scenario] title: a control character" },
};

static void
wrong_values_say_what_would_do (void **state)
{
  (void)state;
  assert_cases (values, G_N_ELEMENTS (values));
}

/* ---- contradictions: eight ranks on one node; 8 heads, 2 kv_heads, hidden 64 ---- */

static const MistakeCase contradictions[] = {
  { "[fsdp]\nsharding_strategy = HYBRID_SHARD\nshard_group_size = 3\n",
    "s.ini:7:20: [fsdp] shard_group_size: 8 ranks are not a multiple of fsdp.shard_group_size 3" },
  { "[fsdp]\nsharding_strategy = _HYBRID_SHARD_ZERO2\nshard_group_size = 16\n",
    "s.ini:7:20: [fsdp] shard_group_size: 8 ranks are not a multiple" },
  { "nodes = 3\n[fsdp]\nshard_group_size = 7\nsharding_strategy = HYBRID_SHARD\n",
    "s.ini:8:21: [fsdp] sharding_strategy: 24 ranks are not a multiple of fsdp.shard_group_size "
    "7" },
  { "[variant a]\nfsdp.shard_group_size=5\nfsdp.sharding_strategy=HYBRID_SHARD\n",
    "s.ini:7:24: [fsdp] sharding_strategy: 8 ranks are not a multiple" },
  { "[fsdp]\napi = fsdp2\nreshard_after_forward = 3\n",
    "s.ini:7:25: [fsdp] reshard_after_forward: fsdp.reshard_after_forward 3 does not divide the 8 "
    "ranks of a shard group" },
  { "[simulation]\nstraggler = 7:1.5; 8:1.5\n",
    "s.ini:6:13: [simulation] straggler: 8 is not one of the 8 ranks, 0 to 7" },
  { "nics_per_node = 0\nnodes = 2\n",
    "s.ini:6:9: [cluster] nodes: 2 nodes but nics_per_node = 0; one node or nics_per_node" },
  { "nodes = 2\nnic_bandwidth = 0B/s\n",
    "s.ini:6:17: [cluster] nic_bandwidth: 2 nodes but nic_bandwidth is 0; a rate such as 400Gb/s" },
  { "[reliability]\ngpu_mtbf = 50000\n", "s.ini:6:12: [reliability] gpu_mtbf: no unit" },
  { "[reliability]\ngpu_mtbf = 50000h\n",
    "s.ini:6:12: [reliability] gpu_mtbf: needs checkpoint_time too" },
  { "[reliability]\ngpu_mtbf = 50000h\ncheckpoint_time = 30s\n",
    "s.ini:6:12: [reliability] gpu_mtbf: needs restart_time too, such as 60s" },
  { "[reliability]\ngpu_mtbf = 50000h\ncheckpoint_time = 0s\nrestart_time = 5min\n",
    "s.ini:6:12: [reliability] gpu_mtbf: checkpoint_interval = auto weighs losses against "
    "checkpoint_time, which is 0" },
  { "[simulation]\nengine = one_pass\ncompute_slowdown = 5%\n",
    "s.ini:7:20: [simulation] compute_slowdown: engine = one_pass cannot slow compute" },
  { "[activation_checkpointing]\nmethod = torch.utils.checkpoint\nuse_reentrant = true\nselect = "
    "op\n",
    "s.ini:8:10: [activation_checkpointing] select: select = op needs use_reentrant = false: "
    "PyTorch refuses" },
  { "[training]\ntrainable = last:5\n",
    "s.ini:6:13: [training] trainable: trainable names the last 5 of 4 blocks; last:4 would do" },
  { "[training]\ntrainable = last:2\n[variant a]\nmodel.tied_embeddings = true\n",
    "s.ini:8:25: [model] tied_embeddings: with tied embeddings the head's weight is the "
    "embedding's" },
  { "[training]\ntrainable = last:2\n[activation_checkpointing]\nmethod = torch.utils.checkpoint\n"
    "use_reentrant = true\n",
    "s.ini:9:17: [activation_checkpointing] use_reentrant: below the blocks that are trained "
    "nothing "
    "needs a gradient" },
  { "[training]\ntrainable = lora\n[variant a]\nmodel.experts = 8\nmodel.experts_per_token = 2\n",
    "s.ini:8:17: [model] experts: trainable = lora is modelled for attention and a feed-forward of "
    "linear layers, not for experts" },
  { "[training]\ntrainable = lora\nlora_targets = gate_proj\n[variant a]\nmodel.gated_ffn = "
    "false\n",
    "s.ini:9:19: [model] gated_ffn: no block of this model has any of lora_targets" },
  { "[training]\ntrainable = lora\nlora_rank = 65\n",
    "s.ini:7:13: [training] lora_rank: lora_rank 65 is over the 16 rows or columns" },
  { "[training]\ntrainable = lora\nmatmul_dtype = fp8_rowwise\n",
    "s.ini:7:16: [training] matmul_dtype: trainable = lora with fp8 matmuls is not modelled" },
  { "[training]\ntrainable = lora\n[fsdp]\napi = fsdp2\nall_gather_dtype = fp8\n",
    "s.ini:9:20: [fsdp] all_gather_dtype: adapters are not gathered in fp8" },
  { "[training]\ntrainable = lora\n[activation_checkpointing]\nmethod = "
    "apply_activation_checkpointing\nselect = op\n",
    "s.ini:9:10: [activation_checkpointing] select: select = op keeps every second matmul" },
  { "[training]\ntrainable = lora\n[fsdp]\napi = fsdp2\nunits = attention_and_mlp\n",
    "s.ini:9:9: [fsdp] units: units of attention and MLP are not modelled" },
  { "[variant a]\nmodel.heads = 9\nmodel.hidden = 63\n",
    "s.ini:6:15: [model] heads: 9 heads are not a multiple of 2 kv_heads" },
  { "[variant a]\nmodel.hidden = 65\n",
    "s.ini:6:16: [model] hidden: hidden 65 is not a multiple of 8 heads; give head_dim" },
  { "[variant a]\nmodel.hidden = 4\n",
    "s.ini:6:16: [model] hidden: hidden 4 is less than 8 heads; head_dim would do" },
  { "[variant a]\nmodel.positions = 1024\n",
    "s.ini:6:19: [model] positions: training.seq_len 4096 is over the 1024 learned positions of "
    "the model; at most 1024 would do" },
  { "[gpu]\nmemory = 1GiB\n",
    "s.ini:6:10: [gpu] memory: reserved_memory leaves nothing of the GPU's memory" },
  /* where figures would overflow or a run would not end */
  { "nodes = 1048576\ngpus_per_node = 1024\n",
    "s.ini:6:17: [cluster] gpus_per_node: 1048576 nodes "
    "of 1024 GPUs are 1073741824 ranks; at most 1048576" },
  { "[training]\nmicro_batch = 1048576\n", "s.ini:6:15: [training] micro_batch: a micro_batch of "
                                           "1048576 sequences of 4096 tokens; at most "
                                           "2^31 tokens would do" },
  { "[training]\ngrad_accum = 10000\n[simulation]\nsteps = 1000\n",
    "s.ini:8:9: [simulation] steps: 4 layers x grad_accum 10000 x 1001 steps with warmup_steps" },
  { "[variant a]\nmodel.ffn_hidden = 4194304\nmodel.hidden = 1048576\nmodel.layers = 10000\n",
    "s.ini:8:16: [model] layers: the model has over 2^50 parameters" },
  { "nodes = 131072\n[simulation]\nranks = all\nsteps = 1000\n",
    "s.ini:8:9: [simulation] steps: 1048576 ranks by themselves, each of 4004 passes through "
    "blocks, take too long; up to 249750 ranks would do" },
  { "[timing]\nforward = 1h\nbackward = 2h\n", "s.ini:7:12: [timing] backward: '2h' is out" },
  { "[timing]\nforward = 1h\nbackward = 1min\n", "s.ini:6:11: [timing] forward: the run may" },
  { "[timing]\nforward = 1h\n[training]\ngrad_accum = 1000\n",
    "s.ini:8:14: [training] grad_accum: the run may last" },
  { "[training]\nseq_len = 33554432\n",
    "s.ini:6:11: [training] seq_len: a block's forward and backward may take" },
};

static void
contradictions_are_found_at_the_setting_on_top (void **state)
{
  (void)state;
  assert_cases (contradictions, G_N_ELEMENTS (contradictions));
}

/* What is no contradiction: keys without effect under the chosen api or method. */
static void
keys_without_effect_are_no_mistake (void **state)
{
  static const char *const cases[] = {
    "[fsdp]\nshard_group_size = 3\n",
    "[fsdp]\napi = ddp\nsharding_strategy = HYBRID_SHARD\nshard_group_size = 3\n",
    "[fsdp]\nreshard_after_forward = 3\n",
    "[fsdp]\napi = fsdp2\nbackward_prefetch = NO_PREFETCH\nlimit_all_gathers = false\n",
    "[activation_checkpointing]\nuse_reentrant = true\nselect = op\n",
    "[activation_checkpointing]\nuse_reentrant = true\nearly_stop = false\n",
    "[simulation]\nengine = one_pass\ncompute_slowdown = 0%\n",
    "nics_per_node = 0\n",
    "[timing]\nhead_all_gather = 1ms\n",
    "[training]\ntrainable = last:2\n[activation_checkpointing]\nuse_reentrant = true\n",
    "[training]\nlora_rank = 60000\nlora_targets = all-linear\n",
    ("[training]\ntrainable = lora\n[activation_checkpointing]\nmethod = torch.utils.checkpoint\n"
     "use_reentrant = true\n"),
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strconcat (TINY, cases[i], NULL);
      g_autoptr (ScenarioFile) file = fixture_load (text, NULL);

      assert_non_null (file);
    }
}

/* ---- [sweep] ---- */

static const MistakeCase sweeps[] = {
  { "[sweep]\ncluster.nodes = 1,2,x\n", "s.ini:6:21: [cluster] nodes: not a number" },
  { "[sweep]\ncluster.nodes = 1,  0\n", "s.ini:6:21: [cluster] nodes: '0' is out of range" },
  { "[sweep]\ncluster.nodes = 1,,2\n", "s.ini:6:19: [cluster] nodes: an empty value in the list" },
  { "[sweep]\ncluster.nodes =\n", "s.ini:6:16: [cluster] nodes: no values" },
  { "[sweep]\nnodes = 1,2\n",
    "s.ini:6:1: [sweep] nodes: expected section.key; did you mean 'cluster.nodes'?" },
  { "[sweep]\ncluster.nods = 1,2\n",
    "s.ini:6:1: [sweep] cluster.nods: unknown key; did you mean 'nodes'?" },
  { "[sweep]\ncluster.nodes = 1\ncluster.nodes = 2\n",
    "s.ini:7:1: [sweep] cluster.nodes: given twice, first in line 6" },
  { "[sweep]\nmodel.source = tiny_model.ini, llama2-7\n",
    "s.ini:6:16: [model] source: no model of that name" },
};

static void
sweeps_are_checked_value_by_value (void **state)
{
  g_autoptr (ScenarioFile) good = fixture_load (
      TINY "[sweep]\ncluster.nodes = 1, 2,4\nmodel.source = llama2-7b, tiny_model.ini\n", NULL);

  (void)state;
  assert_non_null (good);
  assert_cases (sweeps, G_N_ELEMENTS (sweeps));
}

/* ---- what is missing ---- */

static void
what_must_be_given_is_asked_for (void **state)
{
  static const struct
  {
    const char *text, *says;
  } cases[] = {
    { "", "s.ini: [model] no model; give source = a shipped name, a model file or an HF "
          "config.json\ns.ini: [cluster] no cluster; give source" },
    { "[model]\nsource = tiny_model.ini\n", "s.ini: [cluster] no cluster; give source" },
    { "[cluster]\nsource = tiny_cluster.ini\n[model]\n", "s.ini:3:1: [model] no model; give" },
    { "[cluster]\nnodes = 2\n[model]\nsource = tiny_model.ini\n",
      "s.ini:1:1: [cluster] no cluster; give" },
    { "[cluster]\nsource = zz\nnodes = 2\n[model]\nsource = tiny_model.ini\n",
      "s.ini:2:10: [cluster] source: no cluster of that name; 'fsdpsim list clusters' shows" },
    { "[cluster]\nsource =\n[model]\nsource = tiny_model.ini\n",
      "s.ini:1:1: [cluster] no cluster; give" },
    { "[model]\nlayers = 4\n[cluster]\nsource = tiny_cluster.ini\n",
      "s.ini:1:1: [model] missing: hidden, heads, ffn_hidden, gated_ffn, vocab, tied_embeddings" },
    { "[model]\nsource = tiny_model.ini\n[cluster]\nsource = tiny_cluster.ini\ngpu =\n",
      "s.ini: [gpu] no gpu; give source, or gpu in [cluster]" },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *messages = fixture_mistakes (cases[i].text, NULL);

      if (!g_str_has_prefix (messages, cases[i].says))
        print_error ("%s:\n%s", cases[i].text, messages);
      assert_true (g_str_has_prefix (messages, cases[i].says));
      assert_null (strstr (messages, "nics_per_node")); /* of a cluster that is not there */
    }
}

/* ---- all of them at once ---- */

static char *
places_of (const char *messages)
{
  g_auto (GStrv) lines = g_strsplit (messages, "\n", -1);
  GString *places = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "s.ini:") || g_str_has_prefix (lines[i], "-s:"))
      g_string_append_printf (places, "%.*s ", (int)(strstr (lines[i], ": ") - lines[i]), lines[i]);
  return g_string_free (places, FALSE);
}

/* Syntax, names, values, contradictions and options in one run, in their order. */
static void
all_mistakes_come_in_one_run (void **state)
{
  static const char text[] = TINY "nodes = 2x\n"
                                  "[training]\nmicrobatch = 1\nseq_len = 0\nwhat\n"
                                  "[simulation]\nstraggler = 99:2\n"
                                  "[fsdp]\napi = fsdp3\n"
                                  "[variant a]\nmodel.heads = 9\n[variant b]\nmodel.hidden = 65\n";
  static const char *const overrides[] = { "gpu.memory=80", "cluster.nodez=3", NULL };
  g_autofree char *messages = fixture_mistakes (text, overrides);
  g_autofree char *places = places_of (messages);

  (void)state;
  /* Rank 99 cannot be judged while the number of nodes is broken. */
  assert_string_equal (places, "s.ini:5:9 s.ini:7:1 s.ini:8:11 s.ini:9:1 s.ini:13:7 s.ini:15:15 "
                               "s.ini:15:15 s.ini:17:16 -s -s ");
}

static void
options_are_checked_as_files_are (void **state)
{
  static const struct
  {
    const char *option, *says;
  } cases[] = {
    { "training.micro_batch", "-s: expected section.key=value" },
    { "micro_batch=2",
      "-s: micro_batch: expected section.key; did you mean 'training.micro_batch'" },
    { "training.micro_batch=", "-s: [training] micro_batch: no value" },
    { "training.micro_batch=2 # two", "-s: a comment in an option" },
    { "training.micro_batch=2\n", "-s: a control character" },
    { "training.micro_batch=\xFF", "-s: not UTF-8 text" },
    { "=2", "-s: " },
    { "training.=2", "-s: training.: unknown key" },
    { "variant a.x=2", "-s: variant a.x: unknown section" },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const overrides[] = { cases[i].option, NULL };
      g_autofree char *messages = fixture_mistakes (TINY, overrides);

      if (!g_str_has_prefix (messages, cases[i].says))
        print_error ("%s:\n%s", cases[i].option, messages);
      assert_true (g_str_has_prefix (messages, cases[i].says));
    }
}

/* A hundred thousand mistakes are noted up to a thousand, in no time. */
static void
endless_mistakes_end (void **state)
{
  g_autoptr (GString) text = g_string_new ("[training]\n");
  g_autofree char *messages = NULL;

  (void)state;
  for (guint i = 0; i < 100000; i++)
    g_string_append_printf (text, "k%u = 1\n", i);
  messages = fixture_mistakes (text->str, NULL);
  assert_non_null (strstr (messages, "more mistakes"));
}

/* Every name of another program leads to a key that exists, or to a reason. */
static void
names_of_other_programs_lead_to_ours (void **state)
{
  static const char *const foreign[] = {
#define FOREIGN(name, key) #name,
#define NO_KEY(name, why)  #name,
#include "config/keys_foreign.def"
#undef FOREIGN
#undef NO_KEY
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (foreign); i++)
    {
      g_autofree char *clause = foreign_key_clause (foreign[i]);
      g_autofree char *message = unknown_key_message ("fsdp", foreign[i]);

      assert_non_null (strstr (message, clause));
    }
  assert_null (foreign_key_clause ("backward"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (keys_of_unknown_sections_are_looked_at),
    cmocka_unit_test (unknown_and_repeated_names_are_mistakes),
    cmocka_unit_test (names_of_other_programs_lead_to_ours),
    cmocka_unit_test (other_parallelisms_are_refused_by_name),
    cmocka_unit_test (wrong_values_say_what_would_do),
    cmocka_unit_test (contradictions_are_found_at_the_setting_on_top),
    cmocka_unit_test (keys_without_effect_are_no_mistake),
    cmocka_unit_test (sweeps_are_checked_value_by_value),
    cmocka_unit_test (what_must_be_given_is_asked_for),
    cmocka_unit_test (all_mistakes_come_in_one_run),
    cmocka_unit_test (options_are_checked_as_files_are),
    cmocka_unit_test (endless_mistakes_end),
  };

  return cmocka_run_group_tests (tests, fixture_enter_data, NULL);
}
