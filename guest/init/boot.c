#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

static void mount_or_die(const char *type, const char *target, unsigned long flags, const char *data) {
  mkdir(target, 0755);
  if (mount(type, target, type, flags, data) < 0) die("can not mount %s: %s", target, strerror(errno));
}

void mount_kernel_file_systems(void) {
  mount_or_die("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  mount_or_die("sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  /* The kernel does not mount /dev when it boots from an initrd, so init mounts it here. */
  mount_or_die("devtmpfs", "/dev", MS_NOSUID, "mode=0755");
  mount_or_die("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "mode=0620,gid=5,ptmxmode=0666");
  mount_or_die("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777");
  mkdir("/dev/mqueue", 0755);
  if (mount("mqueue", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) errno = 0;
  if (symlink("/proc/self/fd", "/dev/fd") < 0) errno = 0;
  if (symlink("/proc/self/fd/0", "/dev/stdin") < 0) errno = 0;
  if (symlink("/proc/self/fd/1", "/dev/stdout") < 0) errno = 0;
  if (symlink("/proc/self/fd/2", "/dev/stderr") < 0) errno = 0;
}

static void load_module(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("module %s: %s", path, strerror(errno));
  if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST) {
    die("module %s: %s", path, strerror(errno));
  }
  close(fd);
  unlink(path); /* files of the initrd take memory */
}

void load_modules(const char *list_path) {
  FILE *list = fopen(list_path, "re");
  if (list == NULL) die("no module list %s", list_path);
  char name[64], path[96];
  while (fscanf(list, "%63s", name) == 1) {
    snprintf(path, sizeof path, "/modules/%s.ko", name);
    load_module(path);
  }
  fclose(list);
}
