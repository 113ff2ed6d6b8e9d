/*
 * The instance's volume: a disk with an ext4 file system, mounted before the application starts. The image
 * decides where a path leads. So the path to the mount point is followed only inside the image's own file
 * system, never into what the platform has mounted.
 *
 * The volume is left clean. At the guest's end its file system becomes read-only, by force if necessary.
 * Before a snapshot it is frozen: so the data that was only in memory is on the disk too, even if the
 * snapshot is never used.
 *
 *   (mounted) --hush--> HUSHING --written back--> STILL --thaw--> (mounted)
 *                          \--no longer wanted-------------------/
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

/* From <linux/fs.h> and <linux/openat2.h>, which musl-gcc does not find. */
#ifndef FIFREEZE
#define FIFREEZE _IOWR('X', 119, int)
#define FITHAW _IOWR('X', 120, int)
#endif
#define SYS_OPENAT2 437
#define RESOLVE_NO_XDEV 0x01
#define RESOLVE_NO_MAGICLINKS 0x02
#define RESOLVE_IN_ROOT 0x10
struct way { uint64_t flags, mode, resolve; };

/* The longest path that Linux permits, with its NUL. */
#define MAX_PATH_BYTES 4096
/* How long init waits for killed processes. They are gone within milliseconds, unless a device is stuck. */
#define REAP_WAIT_MS 2000
#define READONLY_WAIT_MS 2000
/* The mode of the root directory of a file system that was just made. Its owner is root. */
#define NEW_ROOT_MODE 0755

static int volume_fd = -1; /* the volume's root; open while the volume is mounted and writable */
static int done_fd = -1;   /* readable when the hush is over */
static pthread_t hushing;
static atomic_bool wanted;
static enum { AWAKE, HUSHING, STILL } state;
static bool frozen; /* frozen by init, not by the application */

struct place {
  int fd;
  bool made;
  struct stat status;
};

static _Noreturn void refuse(const char *why, int reason) {
  char line[64];
  snprintf(line, sizeof line, "volume %s %d\n", why, reason);
  channel_send(line);
  channel_flush(REPORT_WAIT_MS);
  power_off();
}

static int open_below_root(int root_fd, const char *path) {
  struct way way = {O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
  return (int)syscall(SYS_OPENAT2, root_fd, path, &way, sizeof way);
}

/*
 * Makes the last component of `path`. `parent_fd` is the directory to which the components before it lead.
 */
static void make_directory(int parent_fd, const char *path) {
  if (mkdirat(parent_fd, strrchr(path, '/') + 1, 0755) == 0) return;
  /* The name exists but could not be opened, so it is a link that leads nowhere. */
  refuse(errno == EEXIST ? "not-directory" : "not-made", errno);
}

static void step(int root_fd, const char *path, struct place *place) {
  int next = open_below_root(root_fd, path);
  if (next < 0 && errno == ENOENT) {
    make_directory(place->fd, path);
    place->made = true;
    next = open_below_root(root_fd, path);
  }
  if (next < 0) refuse(errno == EXDEV ? "reserved" : errno == ENOTDIR || errno == ELOOP ? "not-directory" : "not-made", errno);
  close(place->fd);
  place->fd = next;
}

/* `at` is absolute and has no empty components, `.` or `..`: the host has checked that. */
static struct place find_place(const char *at) {
  char path[MAX_PATH_BYTES];
  int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct place place = {.fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (root_fd < 0 || place.fd < 0 || at[0] != '/' || strlen(at) >= sizeof path) refuse("not-made", ENAMETOOLONG);
  for (const char *end = at; *end != '\0';) {
    end += 1 + strcspn(end + 1, "/");
    snprintf(path, sizeof path, "%.*s", (int)(end - at), at);
    step(root_fd, path, &place);
  }
  close(root_fd);
  if (fstat(place.fd, &place.status) < 0) refuse("not-made", errno);
  return place;
}

/* Looks at the directory to which the path led after all links were followed. */
static bool is_reserved(const struct place *place) {
  char link[64], path[MAX_PATH_BYTES] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", place->fd);
  if (readlink(link, path, sizeof path - 1) < 0) return true;
  return strcmp(path, "/") == 0 || strcmp(path, "/uk") == 0 || strncmp(path, "/uk/", 4) == 0;
}

static bool is_empty(int directory_fd) {
  int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = fd < 0 ? NULL : fdopendir(fd);
  if (entries == NULL) return false;
  bool empty = true;
  for (struct dirent *entry; empty && (entry = readdir(entries)) != NULL;) {
    const char *name = entry->d_name;
    empty = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "lost+found") == 0;
  }
  closedir(entries);
  return empty;
}

static void mount_at(const struct place *place, const char *device, bool readonly) {
  char target[64];
  snprintf(target, sizeof target, "/proc/self/fd/%d", place->fd);
  const char *options = readonly ? "errors=remount-ro" : "errors=remount-ro,discard";
  unsigned long flags = MS_NOATIME | (readonly ? MS_RDONLY : 0);
  if (mount(device, target, "ext4", flags, options) < 0) refuse("not-mounted", errno);
}

/*
 * Gives a new file system's root to the owner of the directory it covers, or to the application's user if
 * the directory was made. An image that does not run as root expects that its user owns the directory.
 */
static void give_to_owner(const struct place *place, const struct config *config) {
  struct stat now;
  struct identity identity;
  if (fstat(volume_fd, &now) < 0 || now.st_uid != 0 || now.st_gid != 0 || (now.st_mode & 07777) != NEW_ROOT_MODE) return;
  if (!is_empty(volume_fd)) return;
  uid_t uid = place->status.st_uid;
  gid_t gid = place->status.st_gid;
  mode_t mode = place->status.st_mode & 07777;
  if (place->made && identity_resolve(config->user, &identity)) {
    uid = identity.uid;
    gid = identity.gid;
  }
  if (fchown(volume_fd, uid, gid) < 0 || fchmod(volume_fd, mode) < 0) say("volume: %s", strerror(errno));
}

void volume_mount(const struct config *config) {
  char device[64];
  if (config->volume == NULL) return;
  if (!disk_find("volume", device, sizeof device)) refuse("no-disk", 0);
  struct place place = find_place(config->volume);
  if (is_reserved(&place)) refuse("reserved", 0);
  if (!is_empty(place.fd)) refuse("not-empty", 0);
  mount_at(&place, device, config->volume_readonly);
  if (!config->volume_readonly) {
    volume_fd = open(config->volume, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (volume_fd < 0 || done_fd < 0) refuse("not-mounted", errno);
    give_to_owner(&place, config);
  }
  close(place.fd);
}

/*
 * Writes the data back before it freezes the file system, because every writer has to wait during the
 * freezing.
 */
static void *hush(void *unused) {
  if (syncfs(volume_fd) < 0) errno = 0;
  if (wanted) frozen = ioctl(volume_fd, FIFREEZE, 0) == 0;
  if (eventfd_write(done_fd, 1) < 0) errno = 0;
  return unused;
}

int volume_hush_fd(void) { return state == HUSHING ? done_fd : -1; }

bool volume_hush(void) {
  wanted = true;
  if (volume_fd < 0 || state == STILL) return true;
  if (state == AWAKE && pthread_create(&hushing, NULL, hush, NULL) == 0) state = HUSHING;
  return false;
}

static void end_hush(void) {
  eventfd_t count;
  pthread_join(hushing, NULL);
  if (eventfd_read(done_fd, &count) < 0) errno = 0;
  state = STILL;
}

static void thaw(void) {
  if (frozen && ioctl(volume_fd, FITHAW, 0) < 0) say("volume: can not thaw: %s", strerror(errno));
  frozen = false;
  state = AWAKE;
}

bool volume_hush_ended(void) {
  end_hush();
  if (!wanted) thaw();
  return state == STILL;
}

void volume_thaw(void) {
  wanted = false;
  if (state == STILL) thaw();
}

static void kill_everybody(void) {
  kill(-1, SIGKILL);
  for (int waited_ms = 0; waited_ms < REAP_WAIT_MS; waited_ms++) {
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (ended < 0) return;
    usleep(1000);
  }
}

static bool is_readonly(void) {
  struct statvfs status;
  return fstatvfs(volume_fd, &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

/* Needed if the file system is still open for writing without a process, as by a loop device. */
static void force_readonly(void) {
  int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, "u", 1) < 0) errno = 0;
  for (int waited_ms = 0; !is_readonly() && waited_ms < READONLY_WAIT_MS; waited_ms++) usleep(1000);
  if (syncfs(volume_fd) < 0) errno = 0;
}

/* Works on the volume's descriptor, so mounts of the application over or below the volume do not matter. */
void volume_close(void) {
  if (volume_fd < 0) return;
  volume_thaw();
  kill(-1, SIGKILL); /* a process that writes without pause would keep the hush from ending */
  if (state == HUSHING) end_hush();
  thaw();
  kill_everybody();
  char target[64];
  snprintf(target, sizeof target, "/proc/self/fd/%d", volume_fd);
  if (mount(NULL, target, NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0 || !is_readonly()) force_readonly();
}
