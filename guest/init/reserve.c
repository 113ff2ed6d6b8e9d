/*
 * For when memory runs out. An application that is being killed for its memory counts as gone some time
 * before its pages are free. A process that needs a page just then, such as this one, leaves the kernel with
 * nobody to kill. The kernel would panic, and the host would hear of a panic although the application's
 * memory was the cause. So some processes are there to be killed, after all others. Each gains the kernel a
 * few milliseconds, in which the application's pages come back: with 3 of them, 6 of 220 guests panicked on a
 * host whose processors were all busy.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

#define RESERVES 16
#define RESERVE_BYTES (16u << 10)
/* One less is never killed. */
#define LAST_TO_BE_KILLED "-999"

static bool stand_last(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  return fd >= 0 && write(fd, LAST_TO_BE_KILLED, strlen(LAST_TO_BE_KILLED)) > 0;
}

static _Noreturn void wait_to_be_killed(void) {
  prctl(PR_SET_NAME, "roost-reserve");
  bool stands_last = stand_last();
  syscall(SYS_close_range, 0u, ~0u, 0u);
  /* Any other place would be one before the application's. */
  if (!stands_last) _exit(1);
  int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
  if (mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE, kind, -1, 0) == MAP_FAILED) _exit(1);
  for (;;) pause();
}

void reserve_keep(void) {
  for (int each = 0; each < RESERVES; each++) {
    if (fork() == 0) wait_to_be_killed();
  }
}
