/*
 * The guest's output: from its console, and from its log, whose bytes the guest counts. Both go into the
 * console's segments. A channel is closed once its end was read, because it would be readable for ever.
 */
#include <errno.h>
#include <unistd.h>

#include "keeper.h"

#define READ_BYTES 65536

static char buffer[READ_BYTES];
static int console_fd = -1, log_fd = -1;
static long long received;

void output_open(const struct vm *vm) {
  console_fd = vm->console_fd;
  log_fd = vm->log_fd;
}

int output_console_fd(void) { return console_fd; }
int output_log_fd(void) { return log_fd; }
long long output_received(void) { return received; }

/* Returns false once the other end is closed. */
static bool take(int fd, bool counted) {
  ssize_t got = read(fd, buffer, sizeof buffer);
  if (got <= 0) return got < 0 && errno == EAGAIN;
  meter_count_output((size_t)got);
  console_write(buffer, (size_t)got);
  if (counted) guest_log_received((size_t)got);
  received += got;
  return true;
}

static void close_when_done(int *fd, bool open) {
  if (open) return;
  close(*fd);
  *fd = -1;
}

void output_take_log(void) { close_when_done(&log_fd, take(log_fd, true)); }
void output_take_console(void) { close_when_done(&console_fd, take(console_fd, false)); }

void output_collect(void) {
  for (int rounds = 0; rounds < 64 && log_fd >= 0 && take(log_fd, true) && errno != EAGAIN; rounds++) errno = 0;
  for (int rounds = 0; rounds < 64 && console_fd >= 0 && take(console_fd, false) && errno != EAGAIN; rounds++) errno = 0;
}
