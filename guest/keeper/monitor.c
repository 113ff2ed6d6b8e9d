/*
 * QMP, as little of it as is needed: that the machine runs, why it shut down, and how a snapshot comes along. Replies are looked through
 * by eye for known words and not parsed: the VMM is the only writer and its order of fields is fixed.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper.h"

static int fd = -1;
static const struct options *options;
static struct lines inbox;
static bool greeted, running, told_running, paused, shut_down, stuck, loaded;

void monitor_open(int monitor_fd, const struct options *given) {
  fd = monitor_fd;
  options = given;
}

bool monitor_finds_vm_stuck(void) { return stuck; }
bool monitor_vm_runs(void) { return running && !paused && !shut_down && !stuck; }
bool monitor_vm_ended(void) { return shut_down || stuck; }

void monitor_command(const char *text) {
  if (write(fd, text, strlen(text)) < 0) return; /* it is gone, and its end will be seen elsewhere */
}

void monitor_command_with_fd(const char *text, int passed_fd) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec body = {(void *)text, strlen(text)};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), &passed_fd, sizeof passed_fd);
  if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0) return;
}

void monitor_power_down(void) { monitor_command("{\"execute\":\"system_powerdown\"}\n"); }

/* A VM from a template: its memory is mapped and must not be looked for in the state, which takes a capability. */
static void negotiate(void) {
  char text[512];
  bool from_template = options->incoming_fd >= 0 && !options->from_snapshot;
  snprintf(text, sizeof text,
           "{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"migrate-set-capabilities\",\"arguments\":{\"capabilities\":["
           "{\"capability\":\"events\",\"state\":true},{\"capability\":\"x-ignore-shared\",\"state\":%s}]}}\n",
           from_template ? "true" : "false");
  monitor_command(text);
  if (options->incoming_fd >= 0) {
    snprintf(text, sizeof text, "{\"execute\":\"migrate-incoming\",\"arguments\":{\"uri\":\"fd:%ld\"}}\n", options->incoming_fd);
    monitor_command(text);
  }
  monitor_command("{\"execute\":\"query-status\"}\n");
}

/*
 * The snapshot is in its memory. What it has to be told is sent first, so that it lies in the guest's port when its CPUs
 * begin to run, before anything else happens to it.
 */
static void take_loaded(void) {
  loaded = true;
  guest_greet();
  monitor_command("{\"execute\":\"cont\"}\n");
}

/* A VM that goes on from its snapshot gets traffic from now on: not before its clock is right. */
void monitor_tell_running(void) {
  if (told_running || !running) return;
  told_running = true;
  event("running");
  /* The application's socket was there already when it fell asleep. */
  if (options->from_snapshot && options->listening > 0) event("listen");
}

static void take_shutdown(const char *line) {
  char reason[48] = "unknown";
  const char *at = strstr(line, "\"reason\": \"");
  if (at != NULL) sscanf(at + strlen("\"reason\": \""), "%47[a-z-]", reason);
  shut_down = true;
  monitor_tell_running();
  event("shutdown %s", reason);
}

static void take_running(void) {
  paused = false;
  stall_resumed();
  suspend_resumed();
  running = true;
  if (guest_is_awake()) monitor_tell_running();
}

static void take_line(const char *line, void *context) {
  (void)context;
  suspend_take(line);
  stall_take(line);
  if (strstr(line, "\"QMP\": {") != NULL && !greeted) {
    greeted = true;
    event("monitor");
    negotiate();
  } else if (strstr(line, "\"event\": \"SHUTDOWN\"") != NULL && !shut_down) {
    take_shutdown(line);
  } else if (strstr(line, "\"event\": \"RESUME\"") != NULL || strstr(line, "\"running\": true") != NULL) {
    take_running();
  } else if (strstr(line, "\"event\": \"MIGRATION\"") != NULL) {
    bool complete = strstr(line, "\"status\": \"completed\"") != NULL;
    if (complete && options->from_snapshot && !loaded) take_loaded();
  } else if (strstr(line, "\"event\": \"STOP\"") != NULL) {
    paused = true;
    monitor_command("{\"execute\":\"query-status\"}\n");
  } else if (strstr(line, "\"status\": \"internal-error\"") != NULL && !stuck) {
    /* The accelerator gave up on the guest; the VMM would stay like this for ever. */
    stuck = true;
    event("shutdown internal-error");
  }
}

bool monitor_read(void) { return lines_read(fd, &inbox, take_line, NULL) != LINES_CLOSED; }
