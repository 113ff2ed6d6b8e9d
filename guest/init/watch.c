#include <stdio.h>
#include <string.h>

#include "init.h"

/* The value that column `st` of /proc/net/tcp has for a listening socket. */
#define TCP_LISTEN 0x0a

static bool table_listens(const char *path) {
  char line[256];
  bool found = false;
  FILE *table = fopen(path, "re");
  while (table != NULL && !found && fgets(line, sizeof line, table) != NULL) {
    unsigned state;
    found = sscanf(line, " %*d: %*s %*s %x", &state) == 1 && state == TCP_LISTEN;
  }
  if (table != NULL) fclose(table);
  return found;
}

bool socket_listens(void) { return table_listens("/proc/net/tcp") || table_listens("/proc/net/tcp6"); }

long oom_kill_count(void) {
  char name[64];
  long value, count = 0;
  FILE *statistics = fopen("/proc/vmstat", "re");
  while (statistics != NULL && fscanf(statistics, "%63s %ld", name, &value) == 2) {
    if (strcmp(name, "oom_kill") == 0) count = value;
  }
  if (statistics != NULL) fclose(statistics);
  return count;
}
