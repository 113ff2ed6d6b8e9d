/*
 * A keeper that is started ahead. An agent is a large process, and for a wake it needs more time to start a
 * process than for everything else. A waiting keeper enters the control groups of its VM and makes the
 * namespaces (jail.c) at once; the view of files must show the VMM's program. Then it waits on its standard
 * input for an order and becomes the command in it:
 *
 *   order <files> <bytes>\n    and as many bytes of strings, each with its NUL: `r <path>` or `w <path>` for every
 *                              file, then the command line
 *
 * The files get the descriptors from 3 on. What follows on standard input is for the command. When its agent
 * ends, a waiting keeper ends too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper.h"

#define FIRST_FILE_FD 3
#define MAX_ORDER_BYTES 65536
#define MAX_STRINGS 255

static bool read_all(char *bytes, size_t length) {
  while (length > 0) {
    ssize_t got = read(0, bytes, length);
    if (got <= 0) return false;
    bytes += got;
    length -= (size_t)got;
  }
  return true;
}

/*
 * Reads byte by byte, so that it reads nothing after the header: the bytes that follow may be for the
 * command.
 */
static bool read_header(char *header, size_t size) {
  for (size_t length = 0; length < size; length++) {
    if (!read_all(header + length, 1)) return false;
    if (header[length] != '\n') continue;
    header[length] = '\0';
    return true;
  }
  return false;
}

static bool open_file(const char *order, int number) {
  if ((order[0] != 'r' && order[0] != 'w') || order[1] != ' ') return false;
  int fd = open(order + 2, order[0] == 'w' ? O_RDWR : O_RDONLY);
  if (fd < 0 || fd == number) return fd == number;
  /* An inherited descriptor has that number already. */
  bool moved = dup2(fd, number) == number;
  close(fd);
  return moved;
}

int waiting_main(const char *program, char **groups) {
  for (; *groups != NULL; groups++) {
    if (!group_enter(*groups)) return 2;
  }
  group_offer_to_killer(KEEPER_KILL_SCORE);
  char header[64], *strings[MAX_STRINGS + 1];
  size_t files, bytes, count = 0;
  jail_prepare(program);
  if (!read_header(header, sizeof header)) return 0;
  if (sscanf(header, "order %zu %zu", &files, &bytes) != 2 || bytes == 0 || bytes > MAX_ORDER_BYTES) return 2;
  char *text = malloc(bytes);
  if (text == NULL || !read_all(text, bytes) || text[bytes - 1] != '\0') return 2;
  for (char *at = text; at < text + bytes && count < MAX_STRINGS; at += strlen(at) + 1) strings[count++] = at;
  strings[count] = NULL;
  if (files >= count) return 2;
  for (size_t i = 0; i < files; i++) {
    if (!open_file(strings[i], FIRST_FILE_FD + (int)i)) return 2;
  }
  execv(strings[files], strings + files);
  return 2;
}
