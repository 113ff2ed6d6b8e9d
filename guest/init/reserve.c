/*
 * A reserve for the time when memory runs out. When the kernel kills an application for its memory, the
 * application counts as gone some time before its pages are free. If a process such as this one needs a page
 * just then, the kernel finds nothing left to kill. The kernel would panic, and the host would hear of a
 * panic although the application's memory was the cause. So init keeps some processes that exist only to be
 * killed, after all others. Each of them gains the kernel a few milliseconds in which the application's
 * pages become free. With 3 of them, 6 of 220 guests panicked on a host whose processors were all busy.
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
/* The oom_score_adj of processes that the kernel kills last. A process with -1000 is never killed. */
#define LAST_TO_BE_KILLED "-999"

static bool stand_last(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  return fd >= 0 && write(fd, LAST_TO_BE_KILLED, strlen(LAST_TO_BE_KILLED)) > 0;
}

static _Noreturn void wait_to_be_killed(void) {
  prctl(PR_SET_NAME, "roost-reserve");
  bool stands_last = stand_last();
  syscall(SYS_close_range, 0u, ~0u, 0u);
  /* With any other score the kernel could kill this process before the application. */
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
