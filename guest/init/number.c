/*
 * Numbers in text. They are read without `sscanf`: while an application waits for its guest to wake, an
 * emulated processor has to translate all code that runs, and that of `sscanf` is long.
 */
#include <limits.h>
#include <string.h>

#include "init.h"

bool parse_digits(const char *digits, size_t length, unsigned __int128 *number) {
  if (length == 0 || length != strspn(digits, "0123456789")) return false;
  *number = 0;
  for (size_t i = 0; i < length; i++) {
    *number = *number * 10 + (unsigned)(digits[i] - '0');
    if (*number > MAX_NUMBER) *number = MAX_NUMBER + 1;
  }
  return true;
}

bool parse_command(const char *line, const char *word, long long *number) {
  size_t length = strlen(word);
  unsigned __int128 value;
  if (strncmp(line, word, length) != 0 || line[length] != ' ') return false;
  const char *digits = line + length + 1;
  if (!parse_digits(digits, strlen(digits), &value) || value > LLONG_MAX) return false;
  *number = (long long)value;
  return true;
}
