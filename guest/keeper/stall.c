/*
 * A volume that promises more than the host's disk has room for at the moment: the VMM stops the VM at the write that failed and keeps
 * it, and it is tried again until it succeeds. Nothing is lost meanwhile, and the guest sees a slow disk.
 *
 *   (runs) --no room--> STALLED --runs for a while again--> (runs)
 *
 * A kill and the end of a grace work as ever. Agents are told, those that come later too.
 */
#include <string.h>

#include "keeper.h"

/* How often it is tried, and how long it has to run without another failure to count as running. */
#define RETRY_MS 1000
#define SETTLED_MS 1000

static bool stalled, stopped;
static long long retry_at_ms, runs_since_ms;

bool stall_is_known(void) { return stalled; }

static void tell(bool now_stalled) {
  if (stalled == now_stalled) return;
  stalled = now_stalled;
  control_tell("stalled %d", stalled);
}

void stall_take(const char *line) {
  if (strstr(line, "\"event\": \"BLOCK_IO_ERROR\"") == NULL) return;
  if (strstr(line, "\"nospace\": true") == NULL || strstr(line, "\"action\": \"stop\"") == NULL) return;
  stopped = true;
  retry_at_ms = now_ms() + RETRY_MS;
  tell(true);
  suspend_cancel("the host's disk is full");
}

void stall_resumed(void) {
  stopped = false;
  runs_since_ms = now_ms();
}

int stall_wait_ms(void) { return stalled ? RETRY_MS : -1; }

void stall_tick(void) {
  long long now = now_ms();
  if (!stalled) return;
  if (!stopped && now >= runs_since_ms + SETTLED_MS) tell(false);
  if (!stopped || now < retry_at_ms || suspend_under_way()) return;
  retry_at_ms = now + RETRY_MS;
  monitor_command("{\"execute\":\"cont\"}\n");
}
