#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"

#define SHORT_NAME_BYTES 100
#define PREFIX_BYTES 155

size_t archive_read_some(void *bytes, size_t length) {
  ssize_t got = read(STDIN_FILENO, bytes, length);
  return got > 0 ? (size_t)got : 0;
}

static bool read_exactly(char *bytes, size_t length) {
  while (length > 0) {
    size_t got = archive_read_some(bytes, length);
    if (got == 0) return false;
    bytes += got;
    length -= got;
  }
  return true;
}

bool archive_skip(long long length) {
  char scrap[ARCHIVE_BLOCK_BYTES * 8];
  while (length > 0) {
    size_t got = archive_read_some(scrap, length < (long long)sizeof scrap ? (size_t)length : sizeof scrap);
    if (got == 0) return false;
    length -= (long long)got;
  }
  return true;
}

static enum archive_found unsound(const char *why) {
  dprintf(STDERR_FILENO, "the archive is not sound: %s\n", why);
  return ARCHIVE_UNSOUND;
}

static bool is_zero(const char *block) {
  for (size_t i = 0; i < ARCHIVE_BLOCK_BYTES; i++) {
    if (block[i] != '\0') return false;
  }
  return true;
}

/* Fills what a record before the header has not filled. */
static void take_names(struct archive_entry *entry, const char *block, bool has_prefix) {
  bool named = entry->name[0] != '\0', linked = entry->link[0] != '\0';
  const char *prefix = block + 345;
  if (!named && has_prefix && prefix[0] != '\0') {
    snprintf(entry->name, sizeof entry->name, "%.*s/%.*s", PREFIX_BYTES, prefix, SHORT_NAME_BYTES, block);
  } else if (!named) {
    snprintf(entry->name, sizeof entry->name, "%.*s", SHORT_NAME_BYTES, block);
  }
  if (!linked) snprintf(entry->link, sizeof entry->link, "%.*s", SHORT_NAME_BYTES, block + 157);
}

/* Numbers of a record come before those of the header; -1: there was none. */
static bool take_number(long long *number, const char *field, size_t length) {
  long long given;
  if (!archive_number(field, length, &given)) return false;
  if (*number < 0) *number = given;
  return true;
}

static bool take_header(struct archive_entry *entry, const char *block) {
  long long mode = 0, sum = 0;
  if (!archive_number(block + 148, 8, &sum) || sum != (long long)archive_sum(block)) return false;
  bool sound = archive_number(block + 100, 8, &mode) && take_number(&entry->uid, block + 108, 8) &&
               take_number(&entry->gid, block + 116, 8) && take_number(&entry->size, block + 124, 12);
  /* A time before 1970 is negative, and becomes 1970. */
  if (!take_number(&entry->mtime, block + 136, 12)) entry->mtime = 0;
  entry->mode = (mode_t)mode & 07777;
  entry->type = block[156] == '\0' || block[156] == '7' ? '0' : block[156];
  take_names(entry, block, memcmp(block + 257, "ustar", 6) == 0);
  size_t length = strlen(entry->name);
  /* An old way to write a directory. */
  if (entry->type == '0' && length > 0 && entry->name[length - 1] == '/') entry->type = '5';
  if (entry->type != '0' && strchr("12346", entry->type) != NULL) entry->size = 0;
  return sound && length > 0;
}

static void forget(struct archive_entry *entry) {
  entry->name[0] = entry->link[0] = '\0';
  entry->uid = entry->gid = entry->size = entry->mtime = -1;
}

/* Takes what describes the next entry: pax records, or a long name of GNU tar. */
static bool take_description(struct archive_entry *entry, char type, long long size) {
  static char records[ARCHIVE_MAX_RECORDS_BYTES + 1];
  if (size < 0 || size > ARCHIVE_MAX_RECORDS_BYTES) return false;
  if (!read_exactly(records, (size_t)size) || !archive_skip(archive_padding(size))) return false;
  records[size] = '\0';
  if (type == 'x') return archive_take_records(entry, records, (size_t)size);
  if (type == 'g') return true; /* comments and the like; nothing that this reader needs */
  if (strlen(records) >= ARCHIVE_MAX_NAME) return false;
  strcpy(type == 'L' ? entry->name : entry->link, records);
  return true;
}

enum archive_found archive_read_entry(struct archive_entry *entry) {
  char block[ARCHIVE_BLOCK_BYTES];
  forget(entry);
  for (;;) {
    if (!read_exactly(block, sizeof block)) return unsound("it ends too early");
    if (is_zero(block)) return ARCHIVE_END;
    char type = block[156];
    if (type != '\0' && strchr("xgLK", type) != NULL) {
      long long size, sum;
      if (!archive_number(block + 124, 12, &size) || !archive_number(block + 148, 8, &sum) ||
          sum != (long long)archive_sum(block) || !take_description(entry, type, size)) {
        return unsound("a description of an entry is wrong, too long, or of a sparse file");
      }
      continue;
    }
    if (!take_header(entry, block)) return unsound("a header is wrong");
    return ARCHIVE_ENTRY;
  }
}
