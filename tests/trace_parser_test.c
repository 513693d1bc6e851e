/* What the reader of traces makes of JSON as profilers write it, right and wrong. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <glib/gstdio.h>
#include <zlib.h>

#include "interop/trace_file.h"
#include "interop/trace_repair.h"

#define KERNEL(name, ts)                                                                           \
  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": 7, "          \
  "\"ts\": " ts ", \"dur\": 2.5, \"args\": {\"stream\": 7, \"correlation\": 3}}"

/* ---- numbers ---- */

static void
times_are_read_to_the_picosecond (void **state)
{
  static const struct
  {
    const char *text;
    gint64 us, ps;
  } good[] = {
    { "0", 0, 0 },
    { "1623212760127829", 1623212760127829, 0 }, /* 2021: whole microseconds since 1970 */
    { "4458677009853.422", 4458677009853, 422000 },
    { "56.720732", 56, 720732 },
    { "-59131.857136", -59131, -857136 },
    { "1.0000009", 1, 0 }, /* digits past the picosecond */
    { "1.5e3", 1500, 0 },
    { "9223372036854775807", G_MAXINT64, 0 },
  };
  static const char *const bad[]
      = { "", "-", ".5", "1.2.3", "abc", "12x", "9223372036854775808", "1e999", "1e", "1e5x" };
  TraceTime time = { 7, 7 };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      assert_true (trace_time_parse (good[i].text, strlen (good[i].text), &time));
      assert_int_equal (time.us, good[i].us);
      assert_int_equal (time.ps, good[i].ps);
    }
  time = (TraceTime){ 7, 7 };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    assert_false (trace_time_parse (bad[i], strlen (bad[i]), &time));
  assert_int_equal (time.us, 7);
}

/* 100 days are 8.64e12 us, and fit 63 bits of picoseconds; a day more is refused. */
static void
times_far_from_the_base_are_refused (void **state)
{
  SimTime since = 7;

  (void)state;
  assert_true (trace_time_since (&(TraceTime){ 8640000000000, 1 }, 0, &since));
  assert_int_equal (since, 8640000000000000001);
  assert_false (trace_time_since (&(TraceTime){ 8726400000000, 0 }, 0, &since));
  assert_true (trace_time_since (&(TraceTime){ 1623212760127829, 0 }, 1623212760127800, &since));
  assert_int_equal (since, 29 * PICOSECONDS_PER_MICROSECOND);
  assert_false (trace_time_since (&(TraceTime){ G_MAXINT64, 0 }, -5, &since));
}

/* ---- words ---- */

static void
nccl_kernels_of_all_ages_are_told_apart (void **state)
{
  static const struct
  {
    const char *name;
    TraceCollective kind;
  } kernels[] = {
    { "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", NCCL_ALL_GATHER },
    { "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
      NCCL_ALL_REDUCE },
    { "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", NCCL_REDUCE_SCATTER },
    { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", NCCL_SEND_RECV },
    { "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)", NCCL_BROADCAST },
    { "ncclKernel_Reduce_RING_LL_Sum_float", NCCL_REDUCE },
    { "ncclSymkDevKernel_AllGather_LL", NCCL_ALL_GATHER },
    { "ncclDevKernel_Generic_4", NCCL_UNKNOWN },
    { "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >", NCCL_NONE },
    { "void cub::AllReduceKernel", NCCL_NONE },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
    assert_int_equal (trace_kernel_collective (kernels[i].name), kernels[i].kind);
  assert_int_equal (trace_named_collective ("_allgather_base"), NCCL_ALL_GATHER);
  assert_int_equal (trace_named_collective ("_reduce_scatter_base"), NCCL_REDUCE_SCATTER);
  assert_int_equal (trace_named_collective ("all_to_allv"), NCCL_SEND_RECV);
  assert_int_equal (trace_named_collective ("wait"), NCCL_UNKNOWN);
}

static void
annotations_name_units (void **state)
{
  static const struct
  {
    const char *name;
    TraceAnnotation annotation;
    const char *unit;
  } names[] = {
    { "FSDP::all_gather (layers.3)", ANNOTATION_FSDP2_GATHER, "layers.3" },
    { "FSDP::all_gather_copy_out (model.layers.12)", ANNOTATION_FSDP2_GATHER, "model.layers.12" },
    { "FSDP::backward_prefetch for layers.2", ANNOTATION_FSDP2_GATHER, "layers.2" },
    { "FSDP::pre_forward", ANNOTATION_FSDP2_PRE_FORWARD, "" },
    { "FSDP::post_backward_reduce (norm, output)", ANNOTATION_FSDP2_POST_BACKWARD, "norm, output" },
    { "FSDP::post_backward_reshard (layers.3)", ANNOTATION_FSDP2_REDUCE_PART, "layers.3" },
    { "FullyShardedDataParallel.forward", ANNOTATION_FSDP1_FORWARD, NULL },
    { "FullyShardedDataParallel._pre_backward_hook", ANNOTATION_FSDP1_PRE_BACKWARD, NULL },
    { "FullyShardedDataParallel._pre_backward_prefetch", ANNOTATION_FSDP1_PREFETCH, NULL },
    { "FullyShardedDataParallel._post_backward_hook", ANNOTATION_FSDP1_POST_BACKWARD, NULL },
    { "FullyShardedDataParallel.rate_limiter", ANNOTATION_NONE, NULL },
    { "Optimizer.step#AdamW.step", ANNOTATION_OPTIMIZER, NULL },
    { "Optimizer.zero_grad#AdamW.zero_grad", ANNOTATION_ZERO_GRAD, NULL },
    { "autograd::engine::evaluate_function: MmBackward0", ANNOTATION_AUTOGRAD, NULL },
    { "aten::mm", ANNOTATION_NONE, NULL },
    { "record_param_comms", ANNOTATION_COMM, NULL },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      gsize length;
      const char *unit = trace_annotation_unit (names[i].name, &length);

      assert_int_equal (trace_annotation (names[i].name), names[i].annotation);
      if (names[i].unit == NULL)
        continue;
      assert_int_equal (length, strlen (names[i].unit));
      assert_memory_equal (unit, names[i].unit, length);
    }
  assert_int_equal (trace_step_number ("ProfilerStep#552"), 552);
}

/* ---- repairs ---- */

static void
broken_events_become_strict_json (void **state)
{
  static const struct
  {
    const char *broken, *right;
  } cases[] = {
    { "{\"name\": \"void f<\"x\">(int)\", \"pid\": 0}",
      "{\"name\": \"void f<\\\"x\\\">(int)\", \"pid\": 0}" },
    { "{\"name\": \"f(\"a\", \"b\")\", \"ts\": 1}",
      "{\"name\": \"f(\\\"a\\\", \\\"b\\\")\", \"ts\": 1}" },
    { "{\"name\": \"a\nb\tc\"}", "{\"name\": \"a b c\"}" },
    { "{\"x\": nan, \"y\": -inf, \"z\": -1.5, \"t\": true}",
      "{\"x\": null, \"y\": null, \"z\": -1.5, \"t\": true}" },
    { "{\"stack\": [\"a\", \"b\"], \"n\": \"\\\"\"}",
      "{\"stack\": [\"a\", \"b\"], \"n\": \"\\\"\"}" },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GString *right = trace_repair (cases[i].broken, strlen (cases[i].broken));

      assert_string_equal (right->str, cases[i].right);
      g_string_free (right, TRUE);
    }
}

/* ---- whole files ---- */

static TraceFile *
read_bytes (const char *bytes, gsize length, GError **error)
{
  const TraceReadOptions options = { .keep = TRUE };
  g_autofree char *path = NULL;
  TraceFile *file;

  g_close (g_file_open_tmp ("fsdpsim-test-XXXXXX", &path, NULL), NULL);
  assert_true (g_file_set_contents (path, bytes, (gssize)length, NULL));
  file = trace_file_read (path, &options, error);
  g_unlink (path);
  return file;
}

static TraceFile *
read_text (const char *text)
{
  GError *error = NULL;
  TraceFile *file = read_bytes (text, strlen (text), &error);

  assert_null (error);
  assert_non_null (file);
  return file;
}

static void
refuses (const char *text, const char *why)
{
  g_autoptr (GError) error = NULL;

  assert_null (read_bytes (text, strlen (text), &error));
  assert_true (g_error_matches (error, TRACE_ERROR, TRACE_ERROR_NO_TRACE));
  if (strstr (error->message, why) == NULL)
    fail_msg ("\"%s\" does not say: %s", error->message, why);
}

static void
both_schemas_give_the_same_records (void **state)
{
  static const char *const texts[] = {
    "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 3, \"world_size\": 8, \"pg_config\": "
    "[{\"rank\": 9}]}, \"deviceProperties\": [{\"name\": \"A100\", \"id\": 0}, {\"name\": "
    "\"A100\"}],"
    "\"traceEvents\": [" KERNEL ("k", "10.000001") "]}",
    /* 2021: capitals, string threads, the header behind the events */
    "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"k\", \"pid\": 0, "
    "\"tid\": \"stream 7\", \"ts\": \"10.000001\", \"dur\": 2.5, \"args\": {\"stream\": 7, "
    "\"correlation\": 3}}], \"distributedInfo\": {\"rank\": 3, \"world_size\": 8}, "
    "\"deviceProperties\": [{\"name\": \"A100\"}, {}]}",
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (TraceFile) file = read_text (texts[i]);
      const TraceRecord *record = trace_store_next (file->gpu);

      assert_int_equal (file->header.rank, 3);
      assert_int_equal (file->header.world_size, 8);
      assert_int_equal (file->header.n_devices, 2);
      assert_string_equal (file->header.gpu, "A100");
      assert_int_equal (file->n_kernels, 1);
      assert_int_equal (record->start, 10000001);
      assert_int_equal (record->end, 12500001);
      assert_int_equal (record->id, 3);
      assert_int_equal (
          g_array_index (trace_file_process (file, 0)->streams, TraceStream, record->stream).tid,
          7);
      assert_false (file->faults.is_cut_off);
      assert_null (trace_store_next (file->gpu));
    }
}

/* The list form of the format may lack its closing bracket. */
static void
an_array_of_events_is_a_trace (void **state)
{
  g_autoptr (TraceFile) whole = read_text ("[" KERNEL ("k", "1") "]");
  g_autoptr (TraceFile) open = read_text ("[" KERNEL ("k", "1") ",\n" KERNEL ("l", "9") ",\n");

  (void)state;
  assert_int_equal (whole->n_kernels, 1);
  assert_int_equal (open->n_kernels, 2);
  assert_true (open->faults.is_cut_off);
}

/* One of three names has quotes without backslash; one event has a nan; then a comma is
 * missing. Nothing is lost but what stands between events. */
static void
broken_events_are_repaired_and_counted (void **state)
{
  g_autoptr (TraceFile) file = read_text ("{\"traceEvents\": [\n" KERNEL ("a", "1") ",\n" KERNEL (
      "f<\"x\">", "4") ",\n"
                       "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"c\", \"pid\": 0, \"tid\": "
                       "7, \"ts\": 8, "
                       "\"dur\": 1, \"args\": {\"occupancy\": nan}},\n" KERNEL (
                           "d", "10") "\n" KERNEL ("e", "13") "], \"variant\": \"v\"}");

  (void)state;
  assert_int_equal (file->n_kernels, 5);
  assert_int_equal (file->faults.n_repaired, 2);
  assert_int_equal (file->faults.n_lost, 1);
  assert_int_equal (file->faults.n_partial, 0);
  assert_in_range (file->faults.first_fault, 18 + strlen (KERNEL ("a", "1")),
                   18 + strlen (KERNEL ("a", "1") KERNEL ("f<\"x\">", "4")));
  assert_false (file->faults.is_cut_off);
  assert_string_equal (file->header.variant, "v");
}

/* Pieces of 256 KiB: broken events across their borders, in a file of several pieces. */
static void
repairs_work_across_pieces (void **state)
{
  GString *text = g_string_new ("{\"traceEvents\": [");
  const guint n = 6000;

  (void)state;
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text,
                            "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"f%s\", \"pid\": 0, "
                            "\"tid\": 7, \"ts\": %u, \"dur\": 1, \"args\": {\"stream\": 7}}",
                            i == 0 ? "" : ", ", i % 3 == 0 ? "<\"x\">" : "", 2 * i);
  g_string_append (text, "]}");
  assert_true (text->len > 2 * 256 * 1024);
  {
    g_autoptr (TraceFile) file = read_text (text->str);

    assert_int_equal (file->n_kernels, n);
    assert_int_equal (file->faults.n_repaired, n / 3);
    assert_int_equal (file->faults.n_lost, 0);
    assert_int_equal (file->faults.n_events, n);
  }
  g_string_free (text, TRUE);
}

static void
what_breaks_no_json_is_only_counted (void **state)
{
  g_autoptr (TraceFile) file = read_text (
      "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\xff\", \"pid\": 0, "
      "\"tid\": 7, \"ts\": 1, \"dur\": 2, \"args\": {\"Addr\": 18446744073709551616, \"stream\": "
      "7, "
      "\"small\": 9223372036854775807, \"float\": 123456789012345678901.5}}, {\"ph\": \"i\", "
      "\"name\": \"\xc3\xa9\xe2\"}]}");

  (void)state;
  assert_int_equal (file->n_kernels, 1);
  assert_int_equal (file->faults.n_beyond_64, 1);
  assert_int_equal (file->faults.n_invalid_utf8, 2);
  assert_int_equal (file->faults.n_lost + file->faults.n_repaired, 0);
}

/* The second event stops inside its arguments: what stands before them suffices. */
static void
a_cut_file_is_read_to_its_end (void **state)
{
  static const char whole[] = "{\"traceEvents\": [" KERNEL ("a", "1") ", " KERNEL ("b", "4") "]}";
  g_autoptr (GString) text = g_string_new (whole);

  (void)state;
  g_string_truncate (text, text->len - 12);
  {
    g_autoptr (TraceFile) file = read_text (text->str);

    assert_int_equal (file->n_kernels, 2);
    assert_true (file->faults.is_cut_off);
  }
  g_string_truncate (text, text->len - 80);
  {
    g_autoptr (TraceFile) file = read_text (text->str);

    assert_int_equal (file->n_kernels, 1);
    assert_true (file->faults.is_cut_off);
  }
}

static void
gzip_is_unpacked_and_its_damage_told (void **state)
{
  static const char text[] = "{\"traceEvents\": [" KERNEL ("a", "1") "]}";
  uLongf size = 4096;
  guchar packed[4096];
  z_stream stream = { .next_in = (guchar *)text, .avail_in = sizeof text - 1 };
  g_autoptr (GError) error = NULL;

  (void)state;
  assert_int_equal (deflateInit2 (&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_out = packed;
  stream.avail_out = (uInt)size;
  assert_int_equal (deflate (&stream, Z_FINISH), Z_STREAM_END);
  size = stream.total_out;
  deflateEnd (&stream);
  {
    g_autoptr (TraceFile) file = read_bytes ((char *)packed, size, NULL);

    assert_int_equal (file->n_kernels, 1);
    assert_null (file->fault);
  }
  {
    g_autoptr (TraceFile) file = read_bytes ((char *)packed, size - 8, NULL);

    assert_int_equal (file->n_kernels, 1);
    assert_non_null (strstr (file->fault, "is cut off"));
  }
  assert_null (read_bytes ((char *)packed, 20, &error));
  assert_non_null (strstr (error->message, "is cut off"));
}

static void
what_is_no_trace_is_refused_with_its_reason (void **state)
{
  (void)state;
  refuses ("", "it is empty");
  refuses ("hello", "it is not JSON");
  refuses ("\x80\x02}q\x01.", "it is not JSON");
  refuses ("{}", "it has no \"traceEvents\"");
  refuses ("[]", "it holds no events");
  refuses ("[{\"prompt\": \"x\"}]", "it holds no events");
  refuses ("{\"traceEvents\": []}", "it holds no events");
  refuses ("{\"architectures\": [\"Llama\"]}", "its first member is \"architectures\"");
  refuses ("{\"schema\": \"1.0.1\", \"nodes\": []}", "execution trace");
  refuses ("{\"workload_graph\": []}", "execution trace");
  refuses ("{\"a\": \"b\" \"c\"}", "it is not JSON");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (times_are_read_to_the_picosecond),
    cmocka_unit_test (times_far_from_the_base_are_refused),
    cmocka_unit_test (nccl_kernels_of_all_ages_are_told_apart),
    cmocka_unit_test (annotations_name_units),
    cmocka_unit_test (broken_events_become_strict_json),
    cmocka_unit_test (both_schemas_give_the_same_records),
    cmocka_unit_test (an_array_of_events_is_a_trace),
    cmocka_unit_test (broken_events_are_repaired_and_counted),
    cmocka_unit_test (repairs_work_across_pieces),
    cmocka_unit_test (what_breaks_no_json_is_only_counted),
    cmocka_unit_test (a_cut_file_is_read_to_its_end),
    cmocka_unit_test (gzip_is_unpacked_and_its_damage_told),
    cmocka_unit_test (what_is_no_trace_is_refused_with_its_reason),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
