/*
 * The guest's output, from its console and its log. The guest says at its end how many bytes it wrote to the
 * log, so the keeper counts them, to know when all have come. Both go into the console's segments. A
 * descriptor is closed at its end of file, because it would be readable for ever.
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

/* Returns false at the end of the file, and after an error. */
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

/* Reads what is there. A channel holds far less than this many reads. */
static void drain(int fd, bool counted) {
  for (int rounds = 0; rounds < 64; rounds++) {
    errno = 0;
    if (!take(fd, counted) || errno == EAGAIN) return;
  }
}

void output_collect(void) {
  if (log_fd >= 0) drain(log_fd, true);
  if (console_fd >= 0) drain(console_fd, false);
}
