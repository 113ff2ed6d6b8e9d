#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"

#define SUM_AT 148
#define SUM_BYTES 8

static bool base256_number(const unsigned char *field, size_t length, long long *number) {
  /* 0x80 begins a positive number. A negative one begins with 0xff, and nothing here can be negative. */
  if (field[0] != 0x80) return false;
  *number = 0;
  for (size_t i = 1; i < length; i++) {
    if (*number > LLONG_MAX >> 8) return false;
    *number = *number << 8 | field[i];
  }
  return true;
}

bool archive_number(const char *field, size_t length, long long *number) {
  if (field[0] & 0x80) return base256_number((const unsigned char *)field, length, number);
  size_t at = 0;
  *number = 0;
  while (at < length && field[at] == ' ') at++;
  for (; at < length && field[at] >= '0' && field[at] <= '7'; at++) *number = *number << 3 | (field[at] - '0');
  return at == length || field[at] == ' ' || field[at] == '\0';
}

unsigned archive_sum(const char *block) {
  unsigned sum = SUM_BYTES * ' ';
  for (size_t i = 0; i < ARCHIVE_BLOCK_BYTES; i++) {
    if (i < SUM_AT || i >= SUM_AT + SUM_BYTES) sum += (unsigned char)block[i];
  }
  return sum;
}

/* Reads decimal digits. What follows a point is dropped, because times are kept to the second. */
static bool decimal(const char *text, long long *number) {
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || digits > 18 || (text[digits] != '\0' && text[digits] != '.')) return false;
  *number = strtoll(text, NULL, 10);
  return true;
}

static bool take_name(char *name, const char *value, size_t length) {
  if (length == 0 || length >= ARCHIVE_MAX_NAME || memchr(value, '\0', length) != NULL) return false;
  memcpy(name, value, length);
  name[length] = '\0';
  return true;
}

/* A time before 1970 becomes 1970. */
static bool take_time(struct archive_entry *entry, const char *value) {
  entry->mtime = 0;
  return value[0] == '-' || decimal(value, &entry->mtime);
}

static bool take_record(struct archive_entry *entry, const char *key, const char *value, size_t length) {
  if (strcmp(key, "path") == 0) return take_name(entry->name, value, length);
  if (strcmp(key, "linkpath") == 0) return take_name(entry->link, value, length);
  if (strcmp(key, "size") == 0) return decimal(value, &entry->size);
  if (strcmp(key, "uid") == 0) return decimal(value, &entry->uid);
  if (strcmp(key, "gid") == 0) return decimal(value, &entry->gid);
  if (strcmp(key, "mtime") == 0) return take_time(entry, value);
  /* The content of such an entry has a form of its own. */
  return strncmp(key, "GNU.sparse.", 11) != 0;
}

bool archive_take_records(struct archive_entry *entry, char *records, size_t length) {
  while (length > 0) {
    /* `<length of the record> <key>=<value>` and a newline */
    size_t digits = strspn(records, "0123456789");
    if (digits == 0 || digits > 6 || digits >= length || records[digits] != ' ') return false;
    size_t size = strtoul(records, NULL, 10);
    if (size < digits + 3 || size > length || records[size - 1] != '\n') return false;
    char *key = records + digits + 1, *end = records + size - 1;
    char *equals = memchr(key, '=', (size_t)(end - key));
    if (equals == NULL) return false;
    *equals = *end = '\0';
    if (!take_record(entry, key, equals + 1, (size_t)(end - equals - 1))) return false;
    records += size;
    length -= size;
  }
  return true;
}
