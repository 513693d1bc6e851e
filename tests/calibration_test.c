#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "study/calibration.h"
#include "study/robust_fit.h"

/* Residuals 1, 1, 1 and -9 of one parameter with slope 1: the mean would be moved by
 * +1.5, but the median is at -1, where three residuals vanish and one is wrong. The scale of
 * 0.01 makes it all but the median. */
static void
one_wrong_residual_does_not_decide (void **state)
{
  const double residuals[] = { 1, 1, 1, -9 };
  const double slopes[] = { 1, 1, 1, 1 };
  const double zero = 0, wide = 1000, least = -20, most = 20;
  const RobustFit fit = { .n_residuals = 4,
                          .n_parameters = 1,
                          .residuals = residuals,
                          .slopes = slopes,
                          .scale = 0.01,
                          .away = &zero,
                          .deviation = &wide,
                          .least = &least,
                          .most = &most };
  double move;

  (void)state;
  robust_fit_solve (&fit, &move);
  assert_true (fabs (move + 1) < 0.02);
}

/* Two parameters, 2 a + b = -4 and a - b = 1: a = -1, b = -2. A bound at -1.5 holds b, and
 * what no residual depends on stays where it was expected. */
static void
bounds_and_expectations_hold (void **state)
{
  const double residuals[] = { 4, -1 };
  const double slopes[] = { 2, 1, 0, 1, -1, 0 };
  const double away[] = { 0, 0, 0.5 };
  const double deviation[] = { 1e6, 1e6, 1 };
  double least[] = { -10, -10, -10 };
  const double most[] = { 10, 10, 10 };
  const RobustFit fit = { .n_residuals = 2,
                          .n_parameters = 3,
                          .residuals = residuals,
                          .slopes = slopes,
                          .scale = 1,
                          .away = away,
                          .deviation = deviation,
                          .least = least,
                          .most = most };
  double moves[3];

  (void)state;
  robust_fit_solve (&fit, moves);
  assert_true (fabs (moves[0] + 1) < 1e-3 && fabs (moves[1] + 2) < 1e-3);
  assert_true (fabs (moves[2] + 0.5) < 1e-3);
  least[1] = -1.5;
  robust_fit_solve (&fit, moves);
  assert_true (fabs (moves[1] + 1.5) < 1e-3);
}

static const CalibratedParameter *
find (const Calibration *calibration, const char *file, const char *key)
{
  for (guint k = 0; k < calibration->parameters->len; k++)
    {
      const CalibratedParameter *parameter
          = &g_array_index (calibration->parameters, CalibratedParameter, k);

      if (strstr (parameter->file, file) != NULL && strcmp (parameter->key->key, key) == 0)
        return parameter;
    }
  return NULL;
}

#define RUN "%s,torchtitan,fsdp2,%u,4096,32,14336,1,32000,4096,h100-sxm-80g,1,8,2,%.6f,flash2\n"

/* Runs of a GPU whose matmuls are a tenth faster than its file says: made by this program with
 * that value, they give it back. */
static void
a_made_up_gpu_is_found_again (void **state)
{
  static const char *const faster[]
      = { "gpu.matmul_efficiency=66%", "gpu.matmul_fill_depth=100", NULL };
  static const char header[] = "id,framework,api,layers,hidden,heads,ffn_hidden,gated_ffn,vocab,"
                               "seq_len,gpu,nodes,gpus_per_node,micro_batch,"
                               "tokens_per_s_per_gpu,attention\n";
  g_autoptr (Problems) problems = problems_new ();
  const CalibrationOptions options = { .n_folds = 2, .seed = 1, .n_threads = 2 };
  g_autoptr (GString) text = g_string_new (header);
  g_autoptr (PublishedTable) table = NULL, measured = NULL;
  const CalibratedParameter *found;
  Calibration calibration;
  Validation made;

  (void)state;
  for (guint layers = 1; layers <= 6; layers++)
    g_string_append_printf (text, RUN, "r", layers, 1.0);
  table = published_read ("runs.csv", text->str, text->len, problems);
  assert_non_null (table);
  validation_run (table, faster, 2, NULL, NULL, &made);
  g_string_assign (text, header);
  for (guint i = 0; i < made.n; i++)
    g_string_append_printf (text, RUN, "r", i + 1,
                            made.predictions[i].predicted[METRIC_TOKENS_PER_S_PER_GPU]);
  validation_clear (&made);
  measured = published_read ("runs.csv", text->str, text->len, problems);
  assert_non_null (measured);
  calibration_run (measured, &options, NULL, NULL, &calibration);
  found = find (&calibration, "h100-sxm-80g", "matmul_efficiency");
  assert_non_null (found);
  assert_true (found->is_moved);
  assert_int_equal (found->n_runs, 6);
  for (guint i = 0; i < calibration.fitted.n; i++)
    {
      assert_true (
          fabs (prediction_error (&calibration.fitted.predictions[i], METRIC_TOKENS_PER_S_PER_GPU))
          < 0.005);
      assert_true (
          fabs (prediction_error (&calibration.crossed.predictions[i], METRIC_TOKENS_PER_S_PER_GPU))
          < 0.03);
    }
  /* nothing says anything of another GPU */
  assert_null (find (&calibration, "a100-sxm-80g", "matmul_efficiency"));
  calibration_clear (&calibration);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_wrong_residual_does_not_decide),
    cmocka_unit_test (bounds_and_expectations_hold),
    cmocka_unit_test (a_made_up_gpu_is_found_again),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
