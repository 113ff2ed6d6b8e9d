#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "keeper.h"

enum lines_end lines_read(int fd, struct lines *lines, void (*take)(const char *line, void *context), void *context) {
  lines->taken = 0;
  ssize_t got = read(fd, lines->bytes + lines->length, sizeof lines->bytes - lines->length);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return LINES_PENDING;
  if (got <= 0) return LINES_CLOSED;
  lines->taken = (size_t)got;
  lines->length += (size_t)got;
  size_t start = 0;
  for (char *end; (end = memchr(lines->bytes + start, '\n', lines->length - start)) != NULL;) {
    *end = '\0';
    take(lines->bytes + start, context);
    if (lines->length == 0) return LINES_READ; /* taking the line ended its connection */
    start = (size_t)(end + 1 - lines->bytes);
  }
  lines->length -= start;
  memmove(lines->bytes, lines->bytes + start, lines->length);
  if (lines->length < sizeof lines->bytes) return LINES_READ;
  lines->length = 0;
  return LINES_TOO_LONG;
}
