/*
 * The memory of a template. It is an anonymous file that is sealed once the template is made. Machines map
 * it privately, so not even a guest that broke out of its VMM could change the memory from which others
 * start.
 *
 * The program prints `fd <n>`. On `seal` it seals the memory and prints `sealed`. It ends with its standard
 * input. A process that opened /proc/<pid>/fd/<n> before that keeps the memory.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper.h"

int ram_main(const char *size_mb) {
  int fd = memfd_create("roost-template", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ftruncate(fd, (off_t)atoll(size_mb) << 20) < 0) return 1;
  /* VMMs, which run as other users, open the file through their inherited descriptor. */
  fchmod(fd, 0666);
  char line[16];
  printf("fd %d\n", fd);
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strcmp(line, "seal\n") != 0) continue;
    int failed = fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    puts(failed < 0 ? "failed" : "sealed");
    fflush(stdout);
  }
  return 0;
}
