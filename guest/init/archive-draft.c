/*
 * A file that is being copied has a name of its own until it is complete. So nobody takes half a file for a
 * whole one, and the file that it replaces is there until then. There is one such file at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "archive.h"

static char name[40];
/* The directory of the present file; -1: there is none. */
static volatile int present = -1;

/* Whoever ends a copy does not want the file either that it was at. */
static void end_by_signal(int number) {
  if (present >= 0) unlinkat(present, name, 0);
  signal(number, SIG_DFL);
  raise(number);
}

int archive_draft_open(int parent) {
  static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) signal(ends[i], end_by_signal);
  snprintf(name, sizeof name, ".roost-copy-%ld", (long)getpid());
  /* A process of the same number may have been killed, and may have left its file. */
  if (unlinkat(parent, name, 0) < 0 && errno != ENOENT) return -1;
  present = parent;
  int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) present = -1;
  return fd;
}

bool archive_draft_finish(const char *last) {
  bool done = renameat(present, name, present, last) == 0;
  if (done) present = -1;
  return done;
}

void archive_draft_drop(void) {
  if (present >= 0) unlinkat(present, name, 0);
  present = -1;
}
