/*
 * Lines that are to be sent to the guest over its control channel: the configuration first, then short
 * commands. They are sent as fast as the guest takes them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper.h"

/* The most bytes of a configuration that the keeper accepts. guest/init/init.h has the same number. */
#define MAX_CONFIG_BYTES (4u << 20)
/* The most bytes that wait to be sent: the configuration and the short commands after it. */
#define OUTBOX_BYTES (MAX_CONFIG_BYTES + 4096)

static int fd = -1;
static char *bytes;
static size_t length_queued, length_sent;

void outbox_open(int control_fd) { fd = control_fd; }

static bool read_fully(int from_fd, char *buffer, size_t length) {
  for (size_t taken = 0; taken < length;) {
    ssize_t got = read(from_fd, buffer + taken, length - taken);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got > 0) taken += (size_t)got;
  }
  return true;
}

/*
 * Reads `<length>\n<records>`. If less comes than announced, the agent died while it wrote, and no VM is
 * started.
 */
bool outbox_set_config(int from_fd) {
  char header[16] = "";
  size_t digits = 0;
  while (digits < sizeof header - 1 && read_fully(from_fd, header + digits, 1) && header[digits] != '\n') digits++;
  size_t length = strtoul(header, NULL, 10);
  bytes = malloc(OUTBOX_BYTES);
  if (header[digits] != '\n' || length > MAX_CONFIG_BYTES || bytes == NULL) return false;
  if (length > 0) length_queued = (size_t)sprintf(bytes, "config %zu\n", length);
  if (!read_fully(from_fd, bytes + length_queued, length)) return false;
  length_queued += length;
  return true;
}

void outbox_forget(void) {
  if (bytes != NULL) explicit_bzero(bytes, length_queued);
}

bool outbox_waits(void) { return length_sent < length_queued; }

void outbox_write(void) {
  while (length_sent < length_queued) {
    ssize_t written = write(fd, bytes + length_sent, length_queued - length_sent);
    /*
     * If the other end is closed, nobody reads the rest. It is dropped, so that the keeper does not try to
     * send it for ever.
     */
    bool gone = written < 0 && (errno == EPIPE || errno == ECONNRESET);
    if (written <= 0 && !gone) return;
    size_t done = gone ? length_queued - length_sent : (size_t)written;
    /* The configuration holds the user's secrets, so it is erased as soon as it is sent. */
    explicit_bzero(bytes + length_sent, done);
    length_sent += done;
  }
  length_queued = length_sent = 0;
}

void outbox_send(const char *line) {
  size_t length = strlen(line);
  if (length_queued + length > OUTBOX_BYTES) return;
  memcpy(bytes + length_queued, line, length);
  length_queued += length;
  outbox_write();
}
