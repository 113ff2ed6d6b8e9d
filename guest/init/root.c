#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

/* How long init waits for a disk's device node. The disk itself is there as soon as its driver is loaded. */
#define DISK_WAIT_MS 2000

/* Disks are recognised by their serial, because their order depends on the machine. */
static bool disk_has_serial(const char *disk, const char *serial) {
  char path[96], text[64] = "";
  snprintf(path, sizeof path, "/sys/block/%.32s/serial", disk);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  bool found = fscanf(file, "%63s", text) == 1 && strcmp(text, serial) == 0;
  fclose(file);
  return found;
}

static bool look_for_disk(const char *serial, char *device, size_t size) {
  DIR *disks = opendir("/sys/block");
  bool found = false;
  for (struct dirent *entry; disks != NULL && !found && (entry = readdir(disks)) != NULL;) {
    found = entry->d_name[0] != '.' && disk_has_serial(entry->d_name, serial);
    if (found) snprintf(device, size, "/dev/%.32s", entry->d_name);
  }
  if (disks != NULL) closedir(disks);
  return found && access(device, F_OK) == 0;
}

bool disk_find(const char *serial, char *device, size_t size) {
  for (int waited_ms = 0; !look_for_disk(serial, device, size); waited_ms++) {
    if (waited_ms > DISK_WAIT_MS) return false;
    usleep(1000);
  }
  return true;
}

static void mount_image(void) {
  char device[64];
  if (!disk_find("root", device, sizeof device)) die("no root disk");
  if (mount(device, "/image", "squashfs", MS_RDONLY, NULL) < 0) die("can not mount the image: %s", strerror(errno));
}

static void move_mount(const char *from, const char *to) {
  mkdir(to, 0755);
  if (mount(from, to, NULL, MS_MOVE, NULL) < 0) die("can not move %s: %s", from, strerror(errno));
}

void root_enter(void) {
  mkdir("/image", 0755);
  mkdir("/changes", 0755);
  mkdir("/root", 0755);
  mount_image();
  /*
   * What the application writes is kept in memory and is lost when the guest ends. It may use half of the
   * memory at most.
   */
  if (mount("tmpfs", "/changes", "tmpfs", 0, "size=50%,mode=0755") < 0) die("no tmpfs: %s", strerror(errno));
  mkdir("/changes/upper", 0755);
  mkdir("/changes/work", 0755);
  if (mount("overlay", "/root", "overlay", 0, "lowerdir=/image,upperdir=/changes/upper,workdir=/changes/work") < 0) {
    die("can not overlay the image: %s", strerror(errno));
  }
  move_mount("/dev", "/root/dev");
  move_mount("/proc", "/root/proc");
  move_mount("/sys", "/root/sys");
  if (chdir("/root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 || chdir("/") < 0) {
    die("can not enter the root: %s", strerror(errno));
  }
  mkdir("/tmp", 01777);
}

static void write_file(const char *path, const char *text) {
  /*
   * The image may have a link at this path that points anywhere. The link is replaced by a file and never
   * followed.
   */
  unlink(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) say("can not write %s: %s", path, strerror(errno));
  if (fd >= 0) close(fd);
}

void root_write_host_files(const struct config *config) {
  char text[1024];
  mkdir("/etc", 0755);
  if (config->hostname[0] != '\0') sethostname(config->hostname, strlen(config->hostname));
  snprintf(text, sizeof text, "%.255s\n", config->hostname);
  write_file("/etc/hostname", text);
  snprintf(text, sizeof text,
           "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n%.64s\t%.255s\n",
           config->ip != NULL ? config->ip : "127.0.1.1", config->hostname);
  write_file("/etc/hosts", text);
  if (config->nameserver != NULL) {
    snprintf(text, sizeof text, "nameserver %.64s\n", config->nameserver);
    write_file("/etc/resolv.conf", text);
  }
}
