#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "archive.h"

/* The file systems that the kernel makes up. Their files have no size, and some never end. */
static const unsigned long made_up[] = {0x9fa0 /* proc */, 0x62656572 /* sysfs */, 0x63677270 /* cgroup2 */,
                                        0x74726163 /* tracefs */, 0x64626720 /* debugfs */};

static struct archive_entry entry;
static int exit_code;

static void fail(const char *why) {
  dprintf(STDERR_FILENO, "%s: %s\n", entry.name, why);
  exit_code = 1;
}

static void pass_over(const char *what) { dprintf(STDERR_FILENO, "%s: %s is left out\n", entry.name, what); }

static void describe(const struct stat *found, char type) {
  entry.type = type;
  entry.mode = found->st_mode & 07777;
  entry.uid = found->st_uid;
  entry.gid = found->st_gid;
  entry.mtime = found->st_mtime;
  entry.size = type == '0' ? found->st_size : 0;
}

/* A file that shrinks meanwhile is filled up with zeros; what it grows by is left out. */
static void pack_content(int fd) {
  static char bytes[64 << 10];
  long long left = entry.size;
  while (left > 0) {
    ssize_t got = read(fd, bytes, left < (long long)sizeof bytes ? (size_t)left : sizeof bytes);
    if (got <= 0) break;
    archive_write(bytes, (size_t)got);
    left -= got;
  }
  if (left > 0) fail("it became shorter, or could not be read to its end; the rest of the copy is zeros");
  while (left > 0) {
    long long now = left < (1 << 20) ? left : 1 << 20;
    archive_write_zeros((size_t)now);
    left -= now;
  }
  archive_write_padding(entry.size);
}

static void pack_file(int parent, const char *name) {
  struct stat found;
  int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &found) < 0) {
    fail(strerror(errno));
  } else if (S_ISREG(found.st_mode)) {
    describe(&found, '0');
    archive_write_header(&entry);
    pack_content(fd);
  }
  if (fd >= 0) close(fd);
}

static void pack_link(int parent, const char *name, const struct stat *found) {
  ssize_t length = readlinkat(parent, name, entry.link, sizeof entry.link - 1);
  if (length < 0) {
    fail(strerror(errno));
    return;
  }
  entry.link[length] = '\0';
  describe(found, '2');
  archive_write_header(&entry);
}

static bool is_made_up(int fd) {
  struct statfs system;
  if (fstatfs(fd, &system) < 0) return false;
  for (size_t i = 0; i < sizeof made_up / sizeof *made_up; i++) {
    if ((unsigned long)system.f_type == made_up[i]) return true;
  }
  return false;
}

static void pack_one(int parent, const char *name, int depth);

static void pack_members(int fd, int depth) {
  size_t length = strlen(entry.name);
  DIR *directory = fdopendir(fd);
  if (directory == NULL) {
    fail(strerror(errno));
    close(fd);
    return;
  }
  for (struct dirent *member; errno = 0, (member = readdir(directory)) != NULL;) {
    const char *name = member->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    if (length + strlen(name) + 2 >= sizeof entry.name) {
      fail("the name of a file in it is too long");
      continue;
    }
    strcpy(entry.name + length, name);
    pack_one(dirfd(directory), name, depth + 1);
    entry.name[length] = '\0';
  }
  if (errno != 0) fail(strerror(errno));
  closedir(directory);
}

static void pack_directory(int parent, const char *name, int depth) {
  struct stat found;
  if (depth >= ARCHIVE_MAX_DEPTH) {
    fail("it is too deep");
    return;
  }
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &found) < 0) {
    fail(strerror(errno));
    if (fd >= 0) close(fd);
    return;
  }
  describe(&found, '5');
  strcat(entry.name, "/");
  archive_write_header(&entry);
  /* At its mount point, so that `roost cp web:/ .` does not copy the kernel's files. */
  if (depth > 0 && is_made_up(fd)) {
    pass_over("what the kernel makes up");
    close(fd);
    return;
  }
  pack_members(fd, depth);
}

/* `entry.name` has room for a slash. It may be longer when this returns. */
static void pack_one(int parent, const char *name, int depth) {
  struct stat found;
  entry.link[0] = '\0';
  if (fstatat(parent, name, &found, AT_SYMLINK_NOFOLLOW) < 0) fail(strerror(errno));
  else if (S_ISREG(found.st_mode)) pack_file(parent, name);
  else if (S_ISDIR(found.st_mode)) pack_directory(parent, name, depth);
  else if (S_ISLNK(found.st_mode)) pack_link(parent, name, &found);
  else if (depth == 0) fail("it is no file, directory or symbolic link");
  else pass_over(S_ISSOCK(found.st_mode) ? "a socket" : S_ISFIFO(found.st_mode) ? "a pipe" : "a device");
}

/* The name in the archive: the last part of the path, or `.` where the path ends with it or has no part. */
static void name_root(const char *path) {
  size_t length = strlen(path);
  while (length > 0 && path[length - 1] == '/') length--;
  size_t begin = length;
  while (begin > 0 && path[begin - 1] != '/') begin--;
  snprintf(entry.name, sizeof entry.name, "%.*s", (int)(length - begin), path + begin);
  if (entry.name[0] == '\0' || strcmp(entry.name, "..") == 0) strcpy(entry.name, ".");
}

int archive_pack(const char *path, bool follow) {
  char target[PATH_MAX];
  struct stat found;
  name_root(path);
  if (follow && realpath(path, target) != NULL) path = target;
  if (stat(path, &found) < 0 && lstat(path, &found) < 0) {
    dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
    return 1;
  }
  pack_one(AT_FDCWD, path, 0);
  archive_write_zeros(2 * ARCHIVE_BLOCK_BYTES);
  archive_write_flush();
  return exit_code;
}
