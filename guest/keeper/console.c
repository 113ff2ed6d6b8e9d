/*
 * The console of an instance. It consists of segments, each named after the offset of its first byte among
 * all bytes ever printed. The oldest segment is dropped when there are too many. Offsets stay true for ever,
 * and a reader needs nothing but the directory.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper.h"

/* The size of a segment, and how many are kept. src/host/console has the same numbers. */
#define SEGMENT_BYTES (1 << 20)
#define MAX_SEGMENTS 4

static int segment = -1;
static long long starts[MAX_SEGMENTS + 1]; /* ascending */
static size_t segment_count;
static size_t segment_length;

static bool parse_name(const char *name, long long *start) {
  if (strlen(name) != 20 || strspn(name, "0123456789") != 16 || strcmp(name + 16, ".log") != 0) return false;
  *start = atoll(name);
  return true;
}

static void drop_oldest(void) {
  files_drop_segment(starts[0]);
  segment_count--;
  memmove(starts, starts + 1, segment_count * sizeof starts[0]);
}

static void insert(long long start) {
  size_t at = segment_count;
  while (at > 0 && starts[at - 1] > start) at--;
  memmove(starts + at + 1, starts + at, (segment_count - at) * sizeof starts[0]);
  starts[at] = start;
  segment_count++;
  if (segment_count > MAX_SEGMENTS) drop_oldest();
}

static bool open_segment(long long start) {
  struct stat status;
  if (segment >= 0) close(segment);
  segment = files_open_segment(start);
  if (segment < 0 || fstat(segment, &status) < 0) return false;
  segment_length = (size_t)status.st_size;
  return true;
}

bool console_open(void) {
  DIR *entries = fdopendir(dup(files_console_directory()));
  long long start;
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    if (parse_name(entry->d_name, &start)) insert(start);
  }
  if (entries != NULL) closedir(entries);
  if (segment_count == 0) insert(0);
  return open_segment(starts[segment_count - 1]);
}

static void next_segment(void) {
  long long start = starts[segment_count - 1] + (long long)segment_length;
  insert(start);
  open_segment(start);
}

/*
 * Measures the segment's file again: while the VM stands still, the agent may have added a line of its own.
 */
static void measure_segment(void) {
  struct stat status;
  if (fstat(segment, &status) == 0) segment_length = (size_t)status.st_size;
}

void console_write(const char *bytes, size_t length) {
  measure_segment();
  while (length > 0) {
    if (segment_length >= SEGMENT_BYTES) next_segment();
    size_t room = SEGMENT_BYTES - segment_length;
    ssize_t written = write(segment, bytes, length < room ? length : room);
    if (written <= 0) return; /* a full disk loses output, not the VM */
    segment_length += (size_t)written;
    bytes += written;
    length -= (size_t)written;
  }
}
