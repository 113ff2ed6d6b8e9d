/*
 * The control channel. Sending never blocks, because a write to a port whose host side is closed would stop
 * process 1. Lines wait in an outbox until the port takes them again. When a copied guest wakes up, its port
 * may not be open yet for the first answer; the outbox covers that too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

/*
 * How long init waits for a port of the channel. Ports appear some milliseconds after their driver is
 * loaded.
 */
#define PORT_WAIT_MS 5000
#define PORT_POLL_US 500

static int port = -1;
static char inbox[4096];
static size_t inbox_length;
static char outbox[4096];
static size_t outbox_length;

static bool port_has_name(const char *device, const char *name) {
  char path[96], text[64] = "";
  snprintf(path, sizeof path, "/sys/class/virtio-ports/%.32s/name", device);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  bool found = fscanf(file, "%63s", text) == 1 && strcmp(text, name) == 0;
  fclose(file);
  return found;
}

static int try_open_port(const char *name, int flags) {
  DIR *ports = opendir("/sys/class/virtio-ports");
  if (ports == NULL) return -1;
  int fd = -1;
  for (struct dirent *entry; fd < 0 && (entry = readdir(ports)) != NULL;) {
    if (entry->d_name[0] == '.' || !port_has_name(entry->d_name, name)) continue;
    char path[96];
    snprintf(path, sizeof path, "/dev/%.32s", entry->d_name);
    fd = open(path, flags | O_CLOEXEC);
  }
  closedir(ports);
  return fd;
}

int port_open(const char *name, int flags) {
  for (long waited_us = 0; waited_us < PORT_WAIT_MS * 1000L; waited_us += PORT_POLL_US) {
    int fd = try_open_port(name, flags);
    if (fd >= 0) return fd;
    usleep(PORT_POLL_US);
  }
  die("no virtio port '%s'", name);
}

void channel_open(void) { port = port_open("ctl", O_RDWR | O_NONBLOCK); }
int channel_fd(void) { return port; }
bool channel_has_outbox(void) { return outbox_length > 0; }

static void drain_outbox(void) {
  while (outbox_length > 0) {
    ssize_t written = write(port, outbox, outbox_length);
    if (written <= 0) return;
    outbox_length -= (size_t)written;
    memmove(outbox, outbox + written, outbox_length);
  }
}

void channel_send(const char *line) {
  size_t length = strlen(line);
  /* The outbox has room for many times what init can send, so it is never full. */
  if (outbox_length + length > sizeof outbox) die("control channel stuck");
  memcpy(outbox + outbox_length, line, length);
  outbox_length += length;
  drain_outbox();
}

void channel_pump(void) {
  drain_outbox();
  if (inbox_length == sizeof inbox) return;
  ssize_t got = read(port, inbox + inbox_length, sizeof inbox - inbox_length);
  if (got > 0) inbox_length += (size_t)got;
}

static void consume(size_t length) {
  inbox_length -= length;
  memmove(inbox, inbox + length, inbox_length);
}

char *channel_line(void) {
  static char line[sizeof inbox + 1];
  char *end = memchr(inbox, '\n', inbox_length);
  if (end == NULL) {
    if (inbox_length == sizeof inbox) consume(inbox_length); /* no command is that long */
    return NULL;
  }
  size_t length = (size_t)(end - inbox);
  memcpy(line, inbox, length);
  line[length] = '\0';
  consume(length + 1);
  return line;
}

static void wait_port(int timeout_ms) {
  struct pollfd waiting = {.fd = port, .events = POLLIN | (outbox_length > 0 ? POLLOUT : 0)};
  poll(&waiting, 1, timeout_ms);
  /*
   * While the host does not hold the other end, poll returns at once. Without this pause the loop would
   * spin.
   */
  if (waiting.revents & POLLHUP) usleep(1000);
}

char *channel_wait_line(void) {
  char *line;
  while ((line = channel_line()) == NULL) {
    wait_port(-1);
    channel_pump();
  }
  return line;
}

void channel_read_exactly(char *buffer, size_t length) {
  size_t taken = inbox_length < length ? inbox_length : length;
  memcpy(buffer, inbox, taken);
  consume(taken);
  while (taken < length) {
    ssize_t got = read(port, buffer + taken, length - taken);
    if (got > 0) taken += (size_t)got;
    else wait_port(-1);
  }
}

void channel_flush(int timeout_ms) {
  for (int waited_ms = 0; outbox_length > 0 && waited_ms < timeout_ms; waited_ms++) {
    drain_outbox();
    if (outbox_length > 0) usleep(1000);
  }
}
