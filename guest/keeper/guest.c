/*
 * The guest's control channel as seen from the host. Everything that arrives here was written by the guest, so it is
 * bounded, parsed, and each statement counts once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keeper.h"

/* guest/init/init.h bounds it too. */
#define MAX_CONFIG_BYTES (4u << 20)
/* Room for the configuration and the short commands after it. */
#define OUTBOX_BYTES (MAX_CONFIG_BYTES + 4096)
/* The guest has this long beyond the grace to kill the application and go off by itself. */
#define SHUTDOWN_MARGIN_MS 5000
/* Between the report of the exit and the machine being off; usually 20 ms. */
#define POWER_OFF_MS 5000

static int fd = -1;
static enum guest_kind kind;
static char *outbox;
static size_t outbox_length, outbox_sent;
static char inbox[512];
static size_t inbox_length;
static bool ready, entered, listening, exited, said_bye;
static long long expected_output = -1, received_output;
static long long kill_at_ms = -1, grace_until_ms = -1;

void guest_open(int control_fd, enum guest_kind guest_kind) {
  fd = control_fd;
  kind = guest_kind;
}

static bool read_fully(int from_fd, char *buffer, size_t length) {
  for (size_t taken = 0; taken < length;) {
    ssize_t got = read(from_fd, buffer + taken, length - taken);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got > 0) taken += (size_t)got;
  }
  return true;
}

/* `<length>\n<records>`. Less than announced means that the agent died while it wrote: then there is no VM. */
bool guest_set_config(int from_fd) {
  char header[16] = "";
  size_t digits = 0;
  while (digits < sizeof header - 1 && read_fully(from_fd, header + digits, 1) && header[digits] != '\n') digits++;
  size_t length = strtoul(header, NULL, 10);
  outbox = malloc(OUTBOX_BYTES);
  if (header[digits] != '\n' || length > MAX_CONFIG_BYTES || outbox == NULL) return false;
  if (length > 0) outbox_length = (size_t)sprintf(outbox, "config %zu\n", length);
  if (!read_fully(from_fd, outbox + outbox_length, length)) return false;
  outbox_length += length;
  return true;
}

bool guest_wants_write(void) { return outbox_sent < outbox_length; }

void guest_write(void) {
  while (outbox_sent < outbox_length) {
    ssize_t written = write(fd, outbox + outbox_sent, outbox_length - outbox_sent);
    if (written <= 0) return;
    /* The configuration holds the user's secrets: it stays no longer than it must. */
    explicit_bzero(outbox + outbox_sent, (size_t)written);
    outbox_sent += (size_t)written;
  }
  outbox_length = outbox_sent = 0;
}

static void send_line(const char *line) {
  size_t length = strlen(line);
  if (outbox_length + length > OUTBOX_BYTES) return;
  memcpy(outbox + outbox_length, line, length);
  outbox_length += length;
  guest_write();
}

static void send_time(void) {
  char line[64];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(line, sizeof line, "time %lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
  send_line(line);
}

/* The guest goes off once everything it printed has arrived here. */
static void maybe_say_bye(void) {
  if (!exited || said_bye || received_output < expected_output) return;
  said_bye = true;
  send_line("bye\n");
}

void guest_log_received(size_t bytes) {
  received_output += (long long)bytes;
  maybe_say_bye();
}

static void send_shutdown(void) {
  char line[64];
  long long left_ms = grace_until_ms - now_ms();
  snprintf(line, sizeof line, "shutdown %lld\n", left_ms > 0 ? left_ms : 0);
  send_line(line);
}

void guest_shutdown(long long grace_ms) {
  long long until_ms = now_ms() + grace_ms;
  if (grace_until_ms >= 0 && until_ms >= grace_until_ms) return;
  event("shutdown-asked %lld", grace_ms);
  grace_until_ms = until_ms;
  if (kind == GUEST_KERNEL) {
    kill_at_ms = until_ms;
    power_down();
    return;
  }
  kill_at_ms = until_ms + SHUTDOWN_MARGIN_MS;
  /* Before the application is there, nothing could take the signal: the guest is told when it is. */
  if (entered) send_shutdown();
}

long long guest_deadline_ms(void) { return kill_at_ms; }

static void take_exit(const char *line) {
  char how[8];
  int value, out_of_memory, killed;
  long long output;
  if (sscanf(line, "exit %7s %d oom %d killed %d output %lld", how, &value, &out_of_memory, &killed, &output) != 5) return;
  if ((strcmp(how, "code") != 0 && strcmp(how, "signal") != 0) || value < 0 || value > 255) return;
  exited = true;
  expected_output = output;
  event("exit %s %d oom %d killed %d", how, value, out_of_memory != 0, killed != 0);
  long long off_by_ms = now_ms() + POWER_OFF_MS;
  if (kill_at_ms < 0 || kill_at_ms > off_by_ms) kill_at_ms = off_by_ms;
  meter_lift();
  maybe_say_bye();
}

static void take_line(const char *line) {
  int pid;
  if (strcmp(line, "time?") == 0) {
    send_time();
  } else if (strcmp(line, "ready") == 0 && !ready) {
    ready = true;
    event("ready");
  } else if (sscanf(line, "app %d", &pid) == 1 && !entered) {
    entered = true;
    event("app %d", pid);
    if (grace_until_ms >= 0) send_shutdown();
  } else if (strcmp(line, "listen") == 0 && !listening) {
    listening = true;
    event("listen");
  } else if (strncmp(line, "exit ", 5) == 0 && !exited) {
    take_exit(line);
  }
}

void guest_read(void) {
  ssize_t got = read(fd, inbox + inbox_length, sizeof inbox - 1 - inbox_length);
  if (got > 0) inbox_length += (size_t)got;
  for (char *end; (end = memchr(inbox, '\n', inbox_length)) != NULL;) {
    *end = '\0';
    take_line(inbox);
    inbox_length -= (size_t)(end + 1 - inbox);
    memmove(inbox, end + 1, inbox_length);
  }
  if (inbox_length == sizeof inbox - 1) inbox_length = 0; /* no statement is that long */
}
