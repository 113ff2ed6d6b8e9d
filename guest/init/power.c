#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "init.h"

/*
 * The kernel prints "Power down" and "System halted" at the highest level. This keeps these lines out of the
 * application's output.
 */
static void silence_console(void) {
  int fd = open("/sys/class/tty/ttyS0/console", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, "N", 1) < 0) errno = 0;
}

void power_off(void) {
  sync();
  silence_console();
  reboot(RB_POWER_OFF);
  die("can not power off: %s", strerror(errno));
}

void stand_still(void) {
  silence_console();
  reboot(RB_HALT_SYSTEM);
  die("can not halt: %s", strerror(errno));
}
