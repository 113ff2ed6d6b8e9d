/*
 * The application's output. The application writes into a pipe, so that it may open /dev/stdout by name, and
 * init carries the bytes to port `log`. init never writes to the port in blocking mode: the port's driver
 * would spin with interrupts off for as long as the host throttles, and that would stop the whole guest. In
 * non-blocking mode the pipe becomes full instead, and only the processes that write have to wait.
 *
 * A thread of its own does this, and it touches nothing but the pipe and the port. The reason is that the
 * kernel holds the lock of a pipe while it splices a file into the pipe, as `cat` does with the disable
 * file. The thread that serves the disable file must not wait for that lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "init.h"

/*
 * The bytes that are written to the port at once. The driver keeps a copy of at most 128 such chunks, so at
 * most 512 KiB.
 */
#define CHUNK_BYTES 4096
#define DRAIN_WAIT_MS 2000

static int pipe_fd = -1, log_fd = -1;
/*
 * An eventfd that wakes the thread while it waits for output: the pipe is still open, but nobody writes to
 * it.
 */
static int wake_fd = -1;
static _Atomic long long written;
static atomic_bool draining, drained;

void output_open(int from_pipe_fd) {
  pipe_fd = from_pipe_fd;
  fcntl(pipe_fd, F_SETFL, O_NONBLOCK);
  log_fd = port_open("log", O_WRONLY | O_NONBLOCK);
}

static void send_chunk(const char *chunk, size_t length) {
  for (size_t sent = 0; sent < length;) {
    ssize_t taken = write(log_fd, chunk + sent, length - sent);
    if (taken > 0) {
      sent += (size_t)taken;
      written += taken;
      continue;
    }
    struct pollfd port = {.fd = log_fd, .events = POLLOUT};
    poll(&port, 1, -1);
    if (port.revents & POLLHUP) usleep(1000);
  }
}

/* Runs until every writer has closed the pipe, or until the pipe is empty after the application's end. */
static void *pump_output(void *unused) {
  static char chunk[CHUNK_BYTES];
  for (;;) {
    bool last = draining;
    ssize_t got = read(pipe_fd, chunk, sizeof chunk);
    if (got > 0) {
      send_chunk(chunk, (size_t)got);
      continue;
    }
    if (got == 0 || last) break;
    struct pollfd sources[2] = {{.fd = pipe_fd, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    poll(sources, 2, -1);
  }
  drained = true;
  return unused;
}

void output_start(void) {
  pthread_t pump;
  wake_fd = eventfd(0, EFD_CLOEXEC);
  if (wake_fd < 0 || pthread_create(&pump, NULL, pump_output, NULL) != 0) die("no thread for the output: %s", strerror(errno));
}

void output_drain(void) {
  draining = true;
  if (eventfd_write(wake_fd, 1) < 0) errno = 0;
  long long before = -1;
  for (int waited_ms = 0; !drained && waited_ms < DRAIN_WAIT_MS;) {
    usleep(1000);
    if (written == before) waited_ms++;
    before = written;
  }
}

long long output_written(void) { return written; }
