/*
 * QMP, as little of it as the verdict needs: that the machine runs, and why it shut down. Replies are looked through
 * by eye for known words and not parsed: the VMM is the only writer and its order of fields is fixed.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keeper.h"

static int fd = -1;
static long incoming_fd = -1;
static char inbox[8192];
static size_t inbox_length;
static bool greeted, running, shut_down, stuck;

void monitor_open(int monitor_fd, long state_fd) {
  fd = monitor_fd;
  incoming_fd = state_fd;
}

bool monitor_finds_vm_stuck(void) { return stuck; }

static void command(const char *text) {
  if (write(fd, text, strlen(text)) < 0) return; /* it is gone, and its end will be seen elsewhere */
}

void monitor_power_down(void) { command("{\"execute\":\"system_powerdown\"}\n"); }

/* A VM from a template: its memory is mapped and must not be looked for in the state, which takes a capability. */
static void negotiate(void) {
  char text[128];
  command("{\"execute\":\"qmp_capabilities\"}\n");
  if (incoming_fd >= 0) {
    command("{\"execute\":\"migrate-set-capabilities\",\"arguments\":{\"capabilities\":"
            "[{\"capability\":\"x-ignore-shared\",\"state\":true}]}}\n");
    snprintf(text, sizeof text, "{\"execute\":\"migrate-incoming\",\"arguments\":{\"uri\":\"fd:%ld\"}}\n", incoming_fd);
    command(text);
  }
  command("{\"execute\":\"query-status\"}\n");
}

static void take_shutdown(const char *line) {
  char reason[48] = "unknown";
  const char *at = strstr(line, "\"reason\": \"");
  if (at != NULL) sscanf(at + strlen("\"reason\": \""), "%47[a-z-]", reason);
  shut_down = true;
  event("shutdown %s", reason);
}

static void take_running(void) {
  if (running) return;
  running = true;
  event("running");
}

static void take_line(const char *line) {
  if (strstr(line, "\"QMP\": {") != NULL && !greeted) {
    greeted = true;
    event("monitor");
    negotiate();
  } else if (strstr(line, "\"event\": \"SHUTDOWN\"") != NULL && !shut_down) {
    take_shutdown(line);
  } else if (strstr(line, "\"event\": \"RESUME\"") != NULL || strstr(line, "\"running\": true") != NULL) {
    take_running();
  } else if (strstr(line, "\"event\": \"STOP\"") != NULL) {
    command("{\"execute\":\"query-status\"}\n");
  } else if (strstr(line, "\"status\": \"internal-error\"") != NULL && !stuck) {
    /* The accelerator gave up on the guest; the VMM would stay like this for ever. */
    stuck = true;
    event("shutdown internal-error");
  }
}

void monitor_read(void) {
  ssize_t got = read(fd, inbox + inbox_length, sizeof inbox - 1 - inbox_length);
  if (got > 0) inbox_length += (size_t)got;
  for (char *end; (end = memchr(inbox, '\n', inbox_length)) != NULL;) {
    *end = '\0';
    take_line(inbox);
    inbox_length -= (size_t)(end + 1 - inbox);
    memmove(inbox, end + 1, inbox_length);
  }
  if (inbox_length == sizeof inbox - 1) inbox_length = 0;
}
