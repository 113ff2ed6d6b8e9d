/*
 * The part of QMP that the keeper needs: whether the machine runs, why it shut down, and how a snapshot
 * proceeds. Replies are searched for known words and not parsed, because the VMM is the only writer and the
 * order of its fields is fixed.
 */
#include <stdio.h>
#include <string.h>

#include "keeper.h"

static int fd = -1;
static const struct options *options;
static struct lines inbox;
static bool greeted, loaded;

void monitor_open(int monitor_fd, const struct options *given) {
  fd = monitor_fd;
  options = given;
}

/*
 * The memory of a VM from a template is mapped and is not part of the state. The capability x-ignore-shared
 * tells the VMM not to look for it there.
 */
static void negotiate(void) {
  char text[512];
  bool from_template = options->incoming_fd >= 0 && !options->from_snapshot;
  snprintf(text, sizeof text,
           "{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"migrate-set-capabilities\",\"arguments\":{\"capabilities\":["
           "{\"capability\":\"events\",\"state\":true},{\"capability\":\"x-ignore-shared\",\"state\":%s}]}}\n",
           from_template ? "true" : "false");
  machine_command(text);
  if (options->incoming_fd >= 0) {
    snprintf(text, sizeof text, "{\"execute\":\"migrate-incoming\",\"arguments\":{\"uri\":\"fd:%ld\"}}\n", options->incoming_fd);
    machine_command(text);
  }
  machine_command("{\"execute\":\"query-status\"}\n");
}

/*
 * Called when the snapshot is loaded into the VM's memory. The messages for the guest are sent before
 * `cont`, so that they are in the guest's port when the CPUs begin to run.
 */
static void take_loaded(void) {
  loaded = true;
  guest_greet();
  machine_command("{\"execute\":\"cont\"}\n");
}

static void take_shutdown(const char *line) {
  char reason[48] = "unknown";
  const char *at = strstr(line, "\"reason\": \"");
  if (at != NULL) sscanf(at + strlen("\"reason\": \""), "%47[a-z-]", reason);
  machine_note(MACHINE_SHUT_DOWN);
  machine_tell_running();
  event("shutdown %s", reason);
}

static void take_running(void) {
  machine_note(MACHINE_RUNS);
  stall_resumed();
  suspend_resumed();
  if (guest_is_awake()) machine_tell_running();
}

static void take_line(const char *line, void *context) {
  (void)context;
  suspend_take(line);
  stall_take(line);
  mirror_take(line);
  if (strstr(line, "\"QMP\": {") != NULL && !greeted) {
    greeted = true;
    event("monitor");
    negotiate();
  } else if (strstr(line, "\"event\": \"SHUTDOWN\"") != NULL && !machine_has_shut_down()) {
    take_shutdown(line);
  } else if (strstr(line, "\"event\": \"RESUME\"") != NULL || strstr(line, "\"running\": true") != NULL) {
    take_running();
  } else if (strstr(line, "\"event\": \"MIGRATION\"") != NULL) {
    bool complete = strstr(line, "\"status\": \"completed\"") != NULL;
    if (complete && options->from_snapshot && !loaded) take_loaded();
  } else if (strstr(line, "\"event\": \"STOP\"") != NULL) {
    machine_note(MACHINE_PAUSED);
    machine_command("{\"execute\":\"query-status\"}\n");
  } else if (strstr(line, "\"status\": \"internal-error\"") != NULL && !machine_is_stuck()) {
    /*
     * The accelerator, such as KVM, can not run this guest any further. The VMM would stay in this state for
     * ever.
     */
    machine_note(MACHINE_STUCK);
    event("shutdown internal-error");
  }
}

bool monitor_read(void) { return lines_read(fd, &inbox, take_line, NULL) != LINES_CLOSED; }
