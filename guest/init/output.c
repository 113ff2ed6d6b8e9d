/*
 * The application writes into a pipe, so that it may open /dev/stdout by name, and init carries that to port `log`.
 * The port is never written to in blocking mode: its driver would spin with interrupts off for as long as the host
 * throttles, which stops the whole guest. Throttling then stops only who writes, through the full pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

/* The driver keeps a copy of every chunk under way, 128 at most: this bounds them to 512 KiB. */
#define CHUNK_BYTES 4096
#define DRAIN_WAIT_MS 2000

static int pipe_fd = -1, log_fd = -1;
static char chunk[CHUNK_BYTES];
static size_t chunk_length, chunk_sent;
static long long written;

void output_open(int from_pipe_fd) {
  pipe_fd = from_pipe_fd;
  fcntl(pipe_fd, F_SETFL, O_NONBLOCK);
  log_fd = port_open("log", O_WRONLY | O_NONBLOCK);
}

struct pollfd output_interest(void) {
  if (chunk_sent < chunk_length) return (struct pollfd){.fd = log_fd, .events = POLLOUT};
  return (struct pollfd){.fd = pipe_fd, .events = POLLIN};
}

/* False when the pipe is empty or closed. */
static bool refill(void) {
  ssize_t got = pipe_fd < 0 ? 0 : read(pipe_fd, chunk, sizeof chunk);
  if (got == 0 && pipe_fd >= 0) {
    close(pipe_fd); /* every writer is gone; a closed pipe would wake poll for ever */
    pipe_fd = -1;
  }
  if (got <= 0) return false;
  chunk_length = (size_t)got;
  chunk_sent = 0;
  return true;
}

/* False when the port takes no more for now. */
static bool send_chunk(void) {
  while (chunk_sent < chunk_length) {
    ssize_t taken = write(log_fd, chunk + chunk_sent, chunk_length - chunk_sent);
    if (taken <= 0) return false;
    chunk_sent += (size_t)taken;
    written += taken;
  }
  return true;
}

void output_pump(void) {
  if (send_chunk() && refill()) send_chunk();
}

void output_drain(void) {
  for (int waited_ms = 0; waited_ms < DRAIN_WAIT_MS;) {
    if (send_chunk()) {
      if (!refill()) return;
      continue;
    }
    struct pollfd port = {.fd = log_fd, .events = POLLOUT};
    if (poll(&port, 1, 1) == 0) waited_ms++;
  }
}

long long output_written(void) { return written; }
