/*
 * Copies the VM's volume to an agent while the VM runs, and follows what the VM writes meanwhile:
 *
 *   (none) --asked--> COPYING --all is there--> FOLLOWING --the VM stands still--> FINISHING --nothing is left--> (none)
 *                        \--- failed, or the agent closed the connection ---\-----------------------/
 *
 * The agent's connection is handed to the VMM, and the agent is an NBD server on it. The VMM's block mirror
 * writes there. What the guest writes goes to the volume as always and never waits for the agent. Only the
 * rest is waited for, while the VM stands still to be made into a snapshot (suspend.c). Agents are told
 * `~ mirror <number> ready`, and then `~ mirror <number> complete` if what they have is what the volume has
 * at that moment, or else `~ mirror <number> failed`.
 *
 * An agent that has enough closes its connection. Nothing else ends a mirror for sure: QEMU 7.2 waits for
 * ever, and the VM's next stop with it, after a cancellation or a shutdown of its own end while a server does
 * not answer. So it is the agent that bounds how long a VM waits. The end of the agent closes the connection,
 * too.
 */
#include <stdio.h>
#include <string.h>

#include "keeper.h"

static enum { NONE, COPYING, FOLLOWING, FINISHING } state;
static bool has_volume;
/* The number of the mirror, so that a late answer to an earlier one counts for that one. */
static int number;
static char id[32];

void mirror_open(long volume_fd) { has_volume = volume_fd >= 0; }

bool mirror_under_way(void) { return state != NONE; }
int mirror_number(void) { return number; }

static void command(const char *name, const char *arguments, int passed_fd) {
  char text[512];
  snprintf(text, sizeof text, "{\"execute\":\"%s\",\"arguments\":{%s},\"id\":\"%s\"}\n", name, arguments, id);
  if (passed_fd < 0) machine_command(text);
  else machine_command_with_fd(text, passed_fd);
}

const char *mirror_begin(int fd) {
  if (!has_volume) return "there is no volume";
  if (state != NONE) return "it is under way";
  if (!machine_runs()) return "the VM does not run";
  snprintf(id, sizeof id, "mirror-%d", ++number);
  state = COPYING;
  command("getfd", "\"fdname\":\"mirror\"", fd);
  command("blockdev-add", "\"driver\":\"nbd\",\"node-name\":\"mirror\",\"server\":{\"type\":\"fd\",\"str\":\"mirror\"}", -1);
  command("blockdev-mirror",
          "\"job-id\":\"mirror\",\"device\":\"volume\",\"target\":\"mirror\",\"sync\":\"full\","
          "\"granularity\":65536,\"buf-size\":4194304",
          -1);
  return NULL;
}

static void end(const char *how) {
  state = NONE;
  machine_command("{\"execute\":\"blockdev-del\",\"arguments\":{\"node-name\":\"mirror\"}}\n");
  events_tell("mirror %d %s", number, how);
}

void mirror_finish(void) {
  if (state == COPYING) machine_command("{\"execute\":\"block-job-cancel\",\"arguments\":{\"device\":\"mirror\",\"force\":true}}\n");
  if (state != FOLLOWING) return;
  state = FINISHING;
  machine_command("{\"execute\":\"block-job-cancel\",\"arguments\":{\"device\":\"mirror\"}}\n");
}

static bool has(const char *line, const char *text) { return strstr(line, text) != NULL; }

static bool is_refusal(const char *line) {
  char own[48];
  snprintf(own, sizeof own, "\"id\": \"%s\"", id);
  return has(line, own) && has(line, "\"error\": {");
}

void mirror_take(const char *line) {
  if (state == NONE) return;
  bool is_own = has(line, "\"device\": \"mirror\"");
  if (is_refusal(line)) end("failed");
  else if (is_own && has(line, "\"event\": \"BLOCK_JOB_CANCELLED\"")) end("failed");
  else if (is_own && has(line, "\"event\": \"BLOCK_JOB_COMPLETED\"")) {
    bool is_whole = state == FINISHING && !has(line, "\"error\": ");
    end(is_whole ? "complete" : "failed");
  } else if (is_own && has(line, "\"event\": \"BLOCK_JOB_READY\"") && state == COPYING) {
    state = FOLLOWING;
    events_tell("mirror %d ready", number);
  }
}
