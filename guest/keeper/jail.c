/*
 * The surroundings of a VMM, if the keeper is root: an empty network, no System V objects, the system's
 * programs and libraries to read, a few devices, and no processes but its own. A guest that breaks out of
 * its VMM has the VMM's descriptors and nothing else.
 *
 * Making these namespaces takes some milliseconds, so a waiting keeper makes them ahead and hands them on as
 * descriptors. A child process makes them, so that a failure halfway leaves nothing behind. Each part exists
 * only if the machine allows it (a container may not). `keeper jail` tells which parts are missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"

/* From <linux/nsfs.h> and <linux/mount.h>, which are not part of the C library. */
#define NS_GET_NSTYPE _IO(0xb7, 0x3)
#define FSCONFIG_SET_STRING 1
#define FSCONFIG_CMD_CREATE 6
#define MOVE_MOUNT_F_EMPTY_PATH 4
#define MOUNT_ATTR_RDONLY 1
#define MOUNT_ATTR_NOSUID 2
#define MOUNT_ATTR_NODEV 4
#define MOUNT_ATTR_NOEXEC 8
struct mount_attributes { uint64_t set, clear, propagation, userns_fd; };

/* The directory in which the VMM's view of the files is built. Every system has it. */
#define STAGE "/proc"

static const struct part {
  const char *name, *file;
  int type, fd;
} parts[] = {
    {"network", "net", CLONE_NEWNET, JAIL_NETWORK_FD},
    {"ipc", "ipc", CLONE_NEWIPC, JAIL_IPC_FD},
    {"files", "mnt", CLONE_NEWNS, JAIL_FILES_FD},
};
#define PARTS (sizeof parts / sizeof *parts)

static bool has_part(const struct part *part) { return ioctl(part->fd, NS_GET_NSTYPE) == part->type; }

static bool bind(const char *from, const char *to, uint64_t attributes) {
  struct mount_attributes wanted = {.set = attributes};
  if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0) return false;
  return syscall(SYS_mount_setattr, AT_FDCWD, to, AT_RECURSIVE, &wanted, sizeof wanted) == 0;
}

static bool bind_directory(const char *from, const char *to) {
  return (mkdir(to, 0755) == 0 || errno == EEXIST) && bind(from, to, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static bool bind_file(const char *from, const char *to, uint64_t attributes) {
  int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  close(fd);
  return bind(from, to, attributes);
}

/* Shows a directory of the root as it is: a directory, or a link into /usr. */
static bool show_as_is(const char *name) {
  char from[64], target[PATH_MAX];
  struct stat status;
  snprintf(from, sizeof from, "/%s", name);
  if (lstat(from, &status) < 0) return true;
  if (!S_ISLNK(status.st_mode)) return bind_directory(from, name);
  ssize_t length = readlink(from, target, sizeof target - 1);
  if (length < 0) return false;
  target[length] = '\0';
  return symlink(target, name) == 0;
}

static bool show_device(const char *name) {
  char from[64];
  snprintf(from, sizeof from, "/dev/%s", name);
  return access(from, F_OK) < 0 || bind_file(from, from + 1, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

/* Shows the directory of the VMM's program, if the program is not among those of the system. */
static bool show_program(const char *program) {
  char path[PATH_MAX];
  if (program == NULL || program[0] != '/' || access(program + 1, F_OK) == 0) return true;
  if (snprintf(path, sizeof path, "%s", program + 1) >= (int)sizeof path) return false;
  char *name = strrchr(path, '/');
  if (name == NULL) return true;
  *name = '\0';
  for (char *at = strchr(path, '/'); at != NULL; at = strchr(at + 1, '/')) {
    *at = '\0';
    bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
    *at = '/';
    if (!made) return false;
  }
  char from[PATH_MAX + 1];
  snprintf(from, sizeof from, "/%s", path);
  return bind_directory(from, path);
}

static bool make_view(const char *program) {
  static const char *const directories[] = {"usr", "lib", "lib32", "lib64", "libx32"};
  static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "kvm"};
  umask(022);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) return false;
  if (mount("view", STAGE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=64k,nr_inodes=128") < 0) return false;
  if (chdir(STAGE) < 0) return false;
  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
    if (!show_as_is(directories[i])) return false;
  }
  if (mkdir("proc", 0755) < 0 || mkdir("etc", 0755) < 0 || mkdir("dev", 0755) < 0 || symlink("/proc/self/fd", "dev/fd") < 0) return false;
  if (access("/etc/ld.so.cache", F_OK) == 0 && !bind_file("/etc/ld.so.cache", "etc/ld.so.cache", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV)) return false;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    if (!show_device(devices[i])) return false;
  }
  if (!show_program(program)) return false;
  if (mount(NULL, ".", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) return false;
  return syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0;
}

/* Makes the parts of the jail, reports which of them exist, and keeps them until they have been taken. */
static _Noreturn void make_parts(const char *program, int ready_fd, int taken_fd) {
  unsigned char made = 0, end;
  for (size_t i = 0; i < PARTS; i++) {
    if (unshare(parts[i].type) == 0 && (parts[i].type != CLONE_NEWNS || make_view(program))) made |= (unsigned char)(1u << i);
  }
  if (write(ready_fd, &made, 1) == 1 && read(taken_fd, &end, 1) < 0) _exit(1);
  _exit(0);
}

static void take_part(const struct part *part, pid_t maker) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)maker, part->file);
  int fd = open(path, O_RDONLY);
  if (fd < 0 || fd == part->fd) return;
  dup2(fd, part->fd);
  close(fd);
}

void jail_prepare(const char *program) {
  int ready[2], taken[2];
  unsigned char made = 0;
  if (geteuid() != 0 || has_part(&parts[0])) return;
  if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(taken, O_CLOEXEC) < 0) return;
  pid_t maker = fork();
  if (maker == 0) {
    close(ready[0]);
    close(taken[1]);
    make_parts(program, ready[1], taken[0]);
  }
  close(ready[1]);
  close(taken[0]);
  if (maker > 0 && read(ready[0], &made, 1) == 1) {
    for (size_t i = 0; i < PARTS; i++) {
      if (made & (1u << i)) take_part(&parts[i], maker);
    }
  }
  close(ready[0]);
  close(taken[1]);
  if (maker > 0) waitpid(maker, NULL, 0);
}

void jail_close_on_exec(void) {
  for (size_t i = 0; i < PARTS; i++) fcntl(parts[i].fd, F_SETFD, FD_CLOEXEC);
}

/*
 * Opens a /proc that shows only the processes of this namespace, and nothing else of such a file system.
 * Returns -1 if the machine does not allow it.
 */
static int open_processes(void) {
  int fd = (int)syscall(SYS_fsopen, "proc", 1);
  if (fd < 0) return -1;
  /* Kernels before 5.8 do not know this option. */
  syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, "subset", "pid", 0);
  int mounted = -1;
  if (syscall(SYS_fsconfig, fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    mounted = (int)syscall(SYS_fsmount, fd, 1, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  close(fd);
  return mounted;
}

bool jail_enter(void) {
  int processes = has_part(&parts[2]) ? open_processes() : -1;
  for (size_t i = 0; i < PARTS; i++) {
    if (parts[i].type == CLONE_NEWNS && processes < 0) continue;
    if (has_part(&parts[i]) && setns(parts[i].fd, parts[i].type) < 0) return false;
  }
  if (processes < 0) return true;
  bool moved = syscall(SYS_move_mount, processes, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) == 0;
  close(processes);
  return moved && chdir("/") == 0;
}

/* Moves the keeper into the namespaces too, as far as possible. The files that it needs are open already. */
void jail_leave_host(void) {
  for (size_t i = 0; i < PARTS; i++) {
    if (has_part(&parts[i]) && setns(parts[i].fd, parts[i].type) < 0) return;
  }
}

/* Prints the parts that a VMM would not have on this machine, in one line. */
int jail_main(const char *program) {
  jail_prepare(program);
  bool apart = unshare(CLONE_NEWPID) == 0;
  for (size_t i = 0; i + 1 < PARTS; i++) {
    if (!has_part(&parts[i])) printf("%s ", parts[i].name);
  }
  if (!apart) printf("processes ");
  fflush(stdout);
  int status = 1;
  pid_t child = apart ? fork() : -1;
  if (child == 0) _exit(has_part(&parts[2]) && open_processes() >= 0 && jail_enter() ? 0 : 1);
  if (child > 0) waitpid(child, &status, 0);
  puts(status == 0 ? "" : parts[2].name);
  return 0;
}
