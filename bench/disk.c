/*
 * Measures a directory's disk without the caches of the machine it runs on: `disk <directory> <MB> <random
 * operations>`. Prints one line, `disk <sequential write MB/s> <sequential read MB/s> <random reads/s>
 * <random writes/s, each durable>`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (1 << 20)
#define PAGE 4096

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + at.tv_nsec / 1e9;
}

static void require(int fine, const char *what) {
  if (fine) return;
  perror(what);
  exit(1);
}

/* The next random number. The sequence, and so the places on the disk, is the same on every machine. */
static uint32_t next(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

int main(int argc, char **argv) {
  require(argc == 4, "usage");
  char path[512];
  snprintf(path, sizeof path, "%s/measured", argv[1]);
  long blocks = atol(argv[2]), operations = atol(argv[3]);
  char *block = NULL;
  require(posix_memalign((void **)&block, PAGE, BLOCK) == 0, "memory");
  memset(block, 0x5a, BLOCK);
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
  require(fd >= 0, path);

  double began = now();
  for (long i = 0; i < blocks; i++) require(write(fd, block, BLOCK) == BLOCK, "write");
  require(fsync(fd) == 0, "fsync");
  double wrote = blocks / (now() - began);

  require(lseek(fd, 0, SEEK_SET) == 0, "seek");
  began = now();
  for (long i = 0; i < blocks; i++) require(read(fd, block, BLOCK) == BLOCK, "read");
  double read_rate = blocks / (now() - began);

  uint32_t state = 2463534242u;
  long pages = blocks * (BLOCK / PAGE);
  began = now();
  for (long i = 0; i < operations; i++) {
    require(pread(fd, block, PAGE, (off_t)(next(&state) % pages) * PAGE) == PAGE, "random read");
  }
  double random_reads = operations / (now() - began);
  began = now();
  for (long i = 0; i < operations / 4; i++) {
    require(pwrite(fd, block, PAGE, (off_t)(next(&state) % pages) * PAGE) == PAGE, "random write");
    require(fdatasync(fd) == 0, "fdatasync");
  }
  double random_writes = operations / 4 / (now() - began);
  printf("disk %.1f %.1f %.0f %.0f\n", wrote, read_rate, random_reads, random_writes);
  fflush(stdout);
  close(fd);
  unlink(path);
  return 0;
}
