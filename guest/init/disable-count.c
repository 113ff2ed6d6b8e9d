/*
 * The exact number of requests against standby that applications have made. It is from 0 to 2^64 inclusive.
 */
#include <errno.h>
#include <string.h>

#include "init.h"

static unsigned __int128 count;

bool disable_count_is_set(void) { return count > 0; }

int disable_count_write(const char *bytes, size_t length) {
  char text[MAX_DISABLE_TEXT + 1];
  unsigned __int128 amount = 1, wanted;
  /* The kernel splits a longer write into parts, and a part of a number must not be read as a number. */
  bool cut = length >= MAX_DISABLE_TEXT;
  if (cut) length = MAX_DISABLE_TEXT;
  memcpy(text, bytes, length);
  if (!cut && length > 0 && text[length - 1] == '\n') length--;
  text[length] = '\0';
  bool bare = length == 1 && (text[0] == '+' || text[0] == '-');
  if (text[0] != '+' && text[0] != '-' && text[0] != '=') return EINVAL;
  if (!bare && !parse_digits(text + 1, length - 1, &amount)) return EINVAL;
  if (text[0] == '-' && amount > count) return ERANGE;
  wanted = text[0] == '=' ? amount : text[0] == '+' ? count + amount : count - amount;
  if (wanted > MAX_NUMBER) return ERANGE;
  if (cut) return EINVAL;
  count = wanted;
  return 0;
}

size_t disable_count_text(char *text) {
  char digits[40];
  size_t length = 0, written = 0;
  unsigned __int128 rest = count;
  do {
    digits[length++] = (char)('0' + (int)(rest % 10));
    rest /= 10;
  } while (rest > 0);
  text[written++] = '=';
  while (length > 0) text[written++] = digits[--length];
  text[written++] = '\n';
  return written;
}
