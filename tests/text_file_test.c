#include <config.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <glib/gstdio.h>

#include "config/text_file.h"

static void
assert_refused (const char *path, GQuark domain, int code)
{
  g_autoptr (GError) error = NULL;
  gsize length = 0;
  g_autofree char *text = text_file_read (path, &length, &error);

  assert_null (text);
  if (!g_error_matches (error, domain, code))
    print_error ("%s: %s\n", path, error->message);
  assert_true (g_error_matches (error, domain, code));
}

static void
assert_holds (const char *path, const char *expected, gsize expected_length)
{
  g_autoptr (GError) error = NULL;
  gsize length = 0;
  g_autofree char *text = text_file_read (path, &length, &error);

  assert_non_null (text);
  assert_int_equal (length, expected_length);
  assert_memory_equal (text, expected, length + 1);
}

static int
make_folder (void **state)
{
  char *folder = g_dir_make_tmp ("text_file-XXXXXX", NULL);

  assert_non_null (folder);
  assert_int_equal (g_chdir (folder), 0);
  *state = folder;
  return 0;
}

static int
remove_folder (void **state)
{
  g_remove ("file");
  g_remove ("pipe");
  assert_int_equal (g_chdir ("/"), 0);
  assert_int_equal (g_rmdir (*state), 0);
  g_free (*state);
  return 0;
}

/* All bytes as they are, a NUL among them, and one behind them. */
static void
a_file_is_read_whole (void **state)
{
  (void)state;
  assert_true (g_file_set_contents ("file", "a\0b\r\n", 5, NULL));
  assert_holds ("file", "a\0b\r\n", 5);
  assert_true (g_file_set_contents ("file", "", 0, NULL));
  assert_holds ("file", "", 0);
}

/* 1 MiB is taken, a byte more is not, nor a sparse file of 100 MB. */
static void
a_megabyte_is_the_most (void **state)
{
  g_autofree char *most = g_strnfill (TEXT_FILE_MAX_BYTES, 'x');

  (void)state;
  assert_true (g_file_set_contents ("file", most, TEXT_FILE_MAX_BYTES, NULL));
  assert_holds ("file", most, TEXT_FILE_MAX_BYTES);
  assert_int_equal (truncate ("file", TEXT_FILE_MAX_BYTES + 1), 0);
  assert_refused ("file", TEXT_FILE_ERROR, TEXT_FILE_ERROR_TOO_LARGE);
  assert_int_equal (truncate ("file", 100000000), 0);
  assert_refused ("file", TEXT_FILE_ERROR, TEXT_FILE_ERROR_TOO_LARGE);
}

static void
what_is_no_file_is_refused (void **state)
{
  (void)state;
  assert_refused ("nowhere", G_FILE_ERROR, G_FILE_ERROR_NOENT);
  assert_refused ("", G_FILE_ERROR, G_FILE_ERROR_NOENT);
  assert_refused (".", G_FILE_ERROR, G_FILE_ERROR_ISDIR);
  assert_refused ("/dev/zero", TEXT_FILE_ERROR, TEXT_FILE_ERROR_TOO_LARGE);
  assert_holds ("/dev/null", "", 0);
}

/* Nothing ever writes to it: refused after a second, not waited for. */
static void
a_pipe_without_writer_does_not_hang (void **state)
{
  (void)state;
  assert_int_equal (mkfifo ("pipe", 0600), 0);
  assert_refused ("pipe", G_FILE_ERROR, G_FILE_ERROR_PIPE);
}

static gpointer
write_late (gpointer data)
{
  int descriptor;

  g_usleep (100000);
  descriptor = open ("pipe", O_WRONLY | O_CLOEXEC);
  for (guint i = 0; i < 3; i++)
    {
      g_usleep (20000);
      assert_int_equal (write (descriptor, "[a]\n", 4), 4);
    }
  close (descriptor);
  return data;
}

/* Its writer comes a tenth of a second later and writes with pauses. */
static void
a_pipe_is_read_to_its_end (void **state)
{
  GThread *writer = g_thread_new ("writer", write_late, NULL);

  (void)state;
  assert_holds ("pipe", "[a]\n[a]\n[a]\n", 12);
  g_thread_join (writer);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_file_is_read_whole),
    cmocka_unit_test (a_megabyte_is_the_most),
    cmocka_unit_test (what_is_no_file_is_refused),
    cmocka_unit_test (a_pipe_without_writer_does_not_hang),
    cmocka_unit_test (a_pipe_is_read_to_its_end),
  };

  return cmocka_run_group_tests (tests, make_folder, remove_folder);
}
