/*
 * The record of one VM. Lines are only added, and a line counts once its newline is there. So a reader of
 * the file, while it grows or after a crash, sees the true beginning of what happened:
 *
 *   keeper <pid> <start time>          qemu <pid> <start time>       as in /proc/<pid>/stat
 *   monitor                            the VMM answers
 *   running                            the VM's CPUs run; after a snapshot the guest's clock is right again too
 *   ready                              the guest asks for its configuration
 *   app <pid>                          listen
 *   volume-unusable <why> <errno>      the guest said so and goes off; guest/init/volume.c has the reasons
 *   exit code|signal <n> oom <0|1> killed <0|1>
 *   shutdown-asked <grace ms>          kill <cause>
 *   kill host-cut-off                  the host's term was over
 *   shutdown <reason>                  the reason from the VMM: guest-shutdown, guest-panic, guest-reset, ...
 *   suspended                          the VM is a snapshot now, and its end is no exit
 *   ended exit|signal <n> cpu_us <n>   the last line
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keeper.h"

/*
 * The most bytes of the file. The bound is never reached, because a guest causes each line only once, and
 * agents cause few lines.
 */
#define MAX_EVENT_BYTES 8192

static int file = -1;
static char text[MAX_EVENT_BYTES];
static size_t text_length;
static void (*listener)(const char *line, size_t length);

void events_listen(void (*take)(const char *line, size_t length)) { listener = take; }

static void pass_on(const char *line, size_t length) {
  if (listener != NULL) listener(line, length);
}

bool events_open(int directory_fd) {
  file = openat(directory_fd, "events", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return file >= 0;
}

void event(const char *format, ...) {
  char line[256];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int prefix = snprintf(line, sizeof line, "%lld ", now.tv_sec * 1000000LL + now.tv_nsec / 1000);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + prefix, sizeof line - (size_t)prefix - 1, format, arguments);
  va_end(arguments);
  size_t length = strlen(line);
  line[length++] = '\n';
  if (text_length + length > sizeof text) return;
  memcpy(text + text_length, line, length);
  text_length += length;
  /* When the disk is full, the line is lost, but the VM goes on. */
  if (write(file, line, length) < 0) line[0] = '\0';
  pass_on(text + text_length - length, length);
}

void events_tell(const char *format, ...) {
  char line[128] = "~ ";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + 2, sizeof line - 3, format, arguments);
  va_end(arguments);
  strcat(line, "\n");
  pass_on(line, strlen(line));
}

void events_sync(void) { fdatasync(file); }

const char *events_text(size_t *length) {
  *length = text_length;
  return text;
}
