/*
 * Control groups, and the scores by which the kernel chooses what to kill when memory runs out. Entering a
 * group takes some 10 ms, because the kernel waits for all its processors. So a keeper enters while it waits
 * for its order, and its VM starts inside the group.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keeper.h"

static bool write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  close(fd);
  return written;
}

bool group_enter(const char *directory) {
  char path[512];
  int length = snprintf(path, sizeof path, "%s/cgroup.procs", directory);
  return length < (int)sizeof path && write_file(path, "0");
}

/* Every process may make itself more likely to be killed. If even that fails, nothing depends on it. */
void group_offer_to_killer(const char *score) { write_file("/proc/self/oom_score_adj", score); }

/*
 * `keeper enter <group>... -- <command>`: starts machines that no waiting keeper starts, such as the machine
 * of a template.
 */
int enter_main(char **arguments) {
  for (; *arguments != NULL && strcmp(*arguments, "--") != 0; arguments++) {
    if (!group_enter(*arguments)) return 2;
  }
  if (*arguments == NULL || arguments[1] == NULL) return 2;
  group_offer_to_killer(VMM_KILL_SCORE);
  execvp(arguments[1], arguments + 1);
  return 2;
}
