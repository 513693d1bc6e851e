/* What reading a profiler trace costs beside a bare pass over its JSON:
 *
 *   trace_bench generate MEGABYTES   a trace as Kineto writes it, on standard output
 *   trace_bench bare FILE            yajl's tokens of FILE, and nothing done with them
 *   trace_bench measure COMMAND...   runs it: "SECONDS KIBIBYTES", of processor and of peak memory
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>
#include <yajl/yajl_parse.h>

#define BLOCKS             32
#define KERNELS_A_BLOCK    40
#define OPERATORS_A_KERNEL 4 /* they nest: aten::linear, aten::matmul, aten::mm, … */
#define CHUNK              (256 * 1024)

/* ---- a trace of FSDP2: operators, launches, kernels and arrows of one rank ---- */

typedef struct
{
  gint64 n_bytes;
  gint64 now_ns;
  gint64 correlation;
} Trace;

static void G_GNUC_PRINTF (2, 3) put (Trace *trace, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  trace->n_bytes += vprintf (format, arguments);
  va_end (arguments);
}

static void
put_event (Trace *trace, const char *category, const char *name, const char *track, gint64 start_ns,
           gint64 length_ns)
{
  put (trace,
       ",\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", %s,\n"
       "    \"ts\": %" G_GINT64_FORMAT ".%03d, \"dur\": %" G_GINT64_FORMAT ".%03d,\n",
       category, name, track, start_ns / 1000, (int)(start_ns % 1000), length_ns / 1000,
       (int)(length_ns % 1000));
}

static void
put_operator (Trace *trace, guint depth)
{
  static const char *const names[OPERATORS_A_KERNEL]
      = { "aten::linear", "aten::matmul", "aten::t", "aten::mm" };

  put_event (trace, "cpu_op", names[depth], "\"pid\": 4711, \"tid\": 4711", trace->now_ns,
             9431 - 1000 * (gint64)depth);
  put (trace,
       "    \"args\": {\n      \"External id\": %" G_GINT64_FORMAT
       ",\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", \"\"], "
       "\"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\", \"\"], "
       "\"Input Strides\": [[16777216, 4096, 1], [4096, 1], []], "
       "\"Input Dims\": [[1, 4096, 4096], [11008, 4096], []], \"Ev Idx\": %" G_GINT64_FORMAT
       "\n    }\n  }",
       trace->correlation, trace->correlation);
}

static void
put_arrow (Trace *trace, const char *phase, const char *track, gint64 time_ns)
{
  put (trace,
       ",\n  {\n    \"ph\": \"%s\", \"id\": %" G_GINT64_FORMAT ", %s, \"ts\": %" G_GINT64_FORMAT
       ".%03d,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  }",
       phase, trace->correlation, track, time_ns / 1000, (int)(time_ns % 1000),
       *phase == 'f' ? ", \"bp\": \"e\"" : "");
}

static void
put_launch (Trace *trace, const char *kernel, const char *track, gint64 length_ns,
            const char *arguments)
{
  static const char host[] = "\"pid\": 4711, \"tid\": 4711";

  trace->correlation++;
  put_event (trace, "cuda_runtime", "cudaLaunchKernel", host, trace->now_ns, 4210);
  put (trace,
       "    \"args\": {\n      \"External id\": %" G_GINT64_FORMAT
       ", \"cbid\": 211, \"correlation\": %" G_GINT64_FORMAT "\n    }\n  }",
       trace->correlation, trace->correlation);
  put_arrow (trace, "s", host, trace->now_ns);
  put_event (trace, "kernel", kernel, track, trace->now_ns + 20000, length_ns);
  put (trace,
       "    \"args\": {\n      \"External id\": %" G_GINT64_FORMAT
       ",\n      \"queued\": 0, \"device\": 0, \"context\": 1, \"correlation\": %" G_GINT64_FORMAT
       ",\n      \"registers per thread\": 128, \"shared memory\": 49152, \"blocks per SM\": 2.37, "
       "\"warps per SM\": 18.96,\n      \"grid\": [32, 8, 1], \"block\": [256, 1, 1], "
       "\"est. achieved occupancy %%\": 30%s\n    }\n  }",
       trace->correlation, trace->correlation, arguments);
  put_arrow (trace, "f", track, trace->now_ns + 20000);
  trace->now_ns += length_ns + 1000;
}

static void
put_block (Trace *trace, guint block)
{
  static const char gather[]
      = ", \"stream\": 20, \"Collective name\": \"_allgather_base\", \"In msg nelems\": 25000000, "
        "\"Out msg nelems\": 200000000, \"Group size\": 8, \"dtype\": \"BFloat16\", "
        "\"Process Group Name\": \"0\"";
  g_autofree char *annotation = g_strdup_printf ("FSDP::all_gather (layers.%u)", block);

  put_event (trace, "user_annotation", annotation, "\"pid\": 4711, \"tid\": 4711", trace->now_ns,
             15000);
  put (trace, "    \"args\": {\n      \"External id\": 7\n    }\n  }");
  put_launch (trace, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
              "\"pid\": 0, \"tid\": 20", 90000, gather);
  for (guint i = 0; i < KERNELS_A_BLOCK; i++)
    {
      for (guint k = 0; k < OPERATORS_A_KERNEL; k++)
        put_operator (trace, k);
      put_launch (
          trace,
          "void at::native::vectorized_elementwise_kernel<4, "
          "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
          "std::array<char*, 2ul> >(int, std::array<char*, 2ul>)",
          "\"pid\": 0, \"tid\": 7", 12345, ", \"stream\": 7");
    }
}

static void
put_step (Trace *trace, guint step)
{
  g_autofree char *mark = g_strdup_printf ("ProfilerStep#%u", step);
  const gint64 begin = trace->now_ns;

  for (guint block = 0; block < BLOCKS; block++)
    put_block (trace, block);
  put_event (trace, "user_annotation", mark, "\"pid\": 4711, \"tid\": 4711", begin,
             trace->now_ns - begin);
  put (trace, "    \"args\": {\n      \"External id\": 1\n    }\n  }");
}

static int
generate (gint64 n_bytes)
{
  Trace trace = { .now_ns = G_GINT64_CONSTANT (1700000000000000) };

  put (&trace, "{\n  \"schemaVersion\": 1,\n"
               "  \"deviceProperties\": [ { \"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\" } ],\n"
               "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 8},\n"
               "  \"traceEvents\": [\n  {\n    \"ph\": \"M\", \"name\": \"process_name\", "
               "\"pid\": 0, \"tid\": 0, \"args\": { \"name\": \"python\" }\n  }");
  for (guint step = 1; trace.n_bytes < n_bytes; step++)
    put_step (&trace, step);
  put (&trace, "\n  ]\n}\n");
  return fflush (stdout) == 0 ? 0 : 1;
}

/* ---- a bare pass ---- */

static int
take_nothing (void *context)
{
  (void)context;
  return 1;
}

static int
take_text (void *context, const unsigned char *text, size_t length)
{
  (void)context;
  (void)text;
  (void)length;
  return 1;
}

static int
take_number (void *context, const char *text, size_t length)
{
  (void)context;
  (void)text;
  (void)length;
  return 1;
}

static int
take_boolean (void *context, int value)
{
  (void)context;
  (void)value;
  return 1;
}

static int
bare (const char *path)
{
  static const yajl_callbacks callbacks = {
    .yajl_null = take_nothing,
    .yajl_boolean = take_boolean,
    .yajl_number = take_number,
    .yajl_string = take_text,
    .yajl_start_map = take_nothing,
    .yajl_map_key = take_text,
    .yajl_end_map = take_nothing,
    .yajl_start_array = take_nothing,
    .yajl_end_array = take_nothing,
  };
  yajl_handle json = yajl_alloc (&callbacks, NULL, NULL);
  g_autofree guchar *chunk = g_malloc (CHUNK);
  const int file = open (path, O_RDONLY | O_CLOEXEC);
  yajl_status status = file < 0 ? yajl_status_error : yajl_status_ok;
  ssize_t n;

  while (status == yajl_status_ok && (n = read (file, chunk, CHUNK)) > 0)
    status = yajl_parse (json, chunk, (size_t)n);
  if (status == yajl_status_ok)
    status = yajl_complete_parse (json);
  yajl_free (json);
  if (file >= 0)
    close (file);
  return status == yajl_status_ok ? 0 : 1;
}

/* ---- measuring ---- */

static int
measure (char **command)
{
  extern char **environ;
  posix_spawn_file_actions_t actions;
  struct rusage usage;
  int status;
  pid_t child;

  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_addopen (&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (posix_spawn (&child, command[0], &actions, NULL, command, environ) != 0
      || wait4 (child, &status, 0, &usage) != child)
    return 1;
  posix_spawn_file_actions_destroy (&actions);
  printf ("%.3f %ld\n",
          (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
              + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
          usage.ru_maxrss);
  return WIFEXITED (status) && WEXITSTATUS (status) == 0 ? 0 : 1;
}

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "generate") == 0)
    return generate (g_ascii_strtoll (argv[2], NULL, 10) * 1000000);
  if (argc == 3 && strcmp (argv[1], "bare") == 0)
    return bare (argv[2]);
  if (argc >= 3 && strcmp (argv[1], "measure") == 0)
    return measure (argv + 2);
  fprintf (stderr, "usage: trace_bench generate MEGABYTES | bare FILE | measure COMMAND...\n");
  return 2;
}
