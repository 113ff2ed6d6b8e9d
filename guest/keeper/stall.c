/*
 * Handles a full disk under a volume, which may promise more than the host's disk has room for. The VMM
 * stops the VM at the write that failed and keeps the write. The keeper lets the VM try again until the
 * write succeeds. Nothing is lost, and the guest sees a slow disk.
 *
 *   (runs) --no room--> STALLED --runs for a while again--> (runs)
 *
 * The VM does not try again while the disk has little room (STALL_ROOM_BYTES). Otherwise it would take each
 * byte that somebody frees, even the last ones that the platform's databases need.
 *
 * A kill and the end of a grace period work as usual. Agents are told of the stall, also those that connect
 * later.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "keeper.h"

/* The wait between two tries. */
#define RETRY_MS 1000
/* How long the VM must run without another failure until the stall is over. */
#define SETTLED_MS 1000

static bool stalled, stopped;
static long long retry_at_ms, runs_since_ms;
/* A descriptor of the volume's file, or -1. */
static int volume_place = -1;

/*
 * Called while the keeper still has the volume open and sees the host's /proc, because later it may not open
 * the file. A descriptor with O_PATH has no part in the volume's lock and gives no right to its data.
 * fstatvfs accepts such a descriptor since Linux 3.12.
 */
void stall_open(long volume_fd) {
  char path[64];
  if (volume_fd < 0) return;
  snprintf(path, sizeof path, "/proc/self/fd/%ld", volume_fd);
  volume_place = open(path, O_PATH | O_CLOEXEC);
}

/*
 * Whether the disk has room. If its file system does not tell, the answer is yes, because a VM must not
 * stand still for ever.
 */
static bool has_room(void) {
  struct statvfs disk;
  if (volume_place < 0 || fstatvfs(volume_place, &disk) < 0 || disk.f_blocks == 0) return true;
  unsigned long long block = disk.f_frsize, share = disk.f_blocks * block / STALL_ROOM_SHARE;
  return disk.f_bavail * block > (share < STALL_ROOM_BYTES ? share : STALL_ROOM_BYTES);
}

bool stall_is_known(void) { return stalled; }

static void tell(bool now_stalled) {
  if (stalled == now_stalled) return;
  stalled = now_stalled;
  events_tell("stalled %d", stalled);
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
  if (!has_room()) return;
  machine_command("{\"execute\":\"cont\"}\n");
}
