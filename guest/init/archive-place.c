#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "archive.h"

/* Of <linux/openat2.h>, which the C library does not have. */
#define RESOLVE_BENEATH 0x08
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
struct how_to_open {
  uint64_t flags, mode, resolve;
};

bool archive_clean_name(char *clean, const char *name) {
  size_t length = 0;
  for (const char *part = name; *part != '\0';) {
    size_t size = strcspn(part, "/");
    if (size == 2 && part[0] == '.' && part[1] == '.') return false;
    if (size > 0 && !(size == 1 && part[0] == '.')) {
      if (length + size + 2 > ARCHIVE_MAX_NAME) return false;
      if (length > 0) clean[length++] = '/';
      memcpy(clean + length, part, size);
      length += size;
    }
    part += size + (part[size] == '/');
  }
  if (length == 0) clean[length++] = '.';
  clean[length] = '\0';
  return true;
}

int archive_open_directory(int base_fd, const char *name) {
  struct how_to_open how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
  return (int)syscall(SYS_openat2, base_fd, name, &how, sizeof how);
}

static int make_and_open(int base_fd, char *parent) {
  for (char *at = strchr(parent, '/');; at = strchr(at + 1, '/')) {
    if (at != NULL) *at = '\0';
    int fd = archive_open_directory(base_fd, parent);
    if (fd < 0 && errno == ENOENT) {
      const char *last = NULL;
      int above = archive_open_parent(base_fd, parent, &last);
      if (above < 0) return -1;
      int made = mkdirat(above, last, 0755);
      close(above);
      if (made < 0) return -1;
      fd = archive_open_directory(base_fd, parent);
    }
    if (fd < 0 || at == NULL) return fd;
    close(fd);
    *at = '/';
  }
}

int archive_open_parent(int base_fd, const char *name, const char **last) {
  char parent[ARCHIVE_MAX_NAME];
  const char *slash = strrchr(name, '/');
  *last = slash == NULL ? name : slash + 1;
  if (slash == NULL) return archive_open_directory(base_fd, ".");
  snprintf(parent, sizeof parent, "%.*s", (int)(slash - name), name);
  int fd = archive_open_directory(base_fd, parent);
  return fd < 0 && errno == ENOENT ? make_and_open(base_fd, parent) : fd;
}

const char *archive_why(int error) {
  if (error == EXDEV) return "a symbolic link on the way leads out of the target";
  if (error == ELOOP) return "there is a symbolic link on the way";
  return strerror(error);
}
