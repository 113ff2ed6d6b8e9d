/*
 * Runs the guest's archive code as a program: `pack <path> [follow]` or `unpack <path> [extract]
 * [owners]`.
 */
#include <string.h>

#include "archive.h"

static bool has(char **words, const char *word) {
  for (; *words != NULL; words++) {
    if (strcmp(*words, word) == 0) return true;
  }
  return false;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  if (strcmp(words[1], "pack") == 0) return archive_pack(words[2], has(words + 3, "follow"));
  struct archive_target target = {words[2], has(words + 3, "extract"), has(words + 3, "owners")};
  return archive_unpack(&target);
}
