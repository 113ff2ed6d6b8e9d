#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "archive.h"

/* What a copy leaves to all others. The kernel begins to kill processes at much less. */
#define LEFT_KB (8 << 10)
/* The memory is looked at after so many bytes. A copy of many small files takes more than their contents. */
#define LOOK_EVERY_BYTES (256 << 10)
#define BYTES_OF_A_FILE (8 << 10)
/* The root, where changes are in a tmpfs, and a tmpfs of the application. */
#define OVERLAY 0x794c7630
#define TMPFS 0x01021994

static size_t since_last_look = LOOK_EVERY_BYTES;

bool archive_is_in_memory(int fd) {
  struct statfs system;
  if (fstatfs(fd, &system) < 0) return false;
  return (unsigned long)system.f_type == OVERLAY || (unsigned long)system.f_type == TMPFS;
}

/* Returns LONG_MAX where the kernel does not tell. */
static long available_kb(void) {
  char text[512];
  int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[length > 0 ? length : 0] = '\0';
  const char *line = strstr(text, "MemAvailable:");
  return line == NULL ? __LONG_MAX__ : strtol(line + strlen("MemAvailable:"), NULL, 10);
}

bool archive_memory_is_full(size_t length) {
  since_last_look += length > 0 ? length : BYTES_OF_A_FILE;
  if (since_last_look < LOOK_EVERY_BYTES) return false;
  since_last_look = 0;
  return available_kb() < LEFT_KB;
}
