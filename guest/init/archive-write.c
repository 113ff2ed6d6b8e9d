#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"

#define MAX_SHORT_NAME 100
/* The largest numbers of 7 and of 11 octal digits. */
#define MAX_OWNER 07777777
#define MAX_SIZE 077777777777

static char waiting[64 << 10];
static size_t waiting_length;

void archive_write_flush(void) {
  for (size_t sent = 0; sent < waiting_length;) {
    ssize_t written = write(STDOUT_FILENO, waiting + sent, waiting_length - sent);
    if (written <= 0) _exit(1);
    sent += (size_t)written;
  }
  waiting_length = 0;
}

void archive_write(const void *bytes, size_t length) {
  for (const char *from = bytes; length > 0;) {
    if (waiting_length == sizeof waiting) archive_write_flush();
    size_t room = sizeof waiting - waiting_length, now = length < room ? length : room;
    memcpy(waiting + waiting_length, from, now);
    waiting_length += now;
    from += now;
    length -= now;
  }
}

void archive_write_zeros(size_t length) {
  static const char zeros[ARCHIVE_BLOCK_BYTES];
  for (; length > sizeof zeros; length -= sizeof zeros) archive_write(zeros, sizeof zeros);
  archive_write(zeros, length);
}

long long archive_padding(long long size) {
  return (ARCHIVE_BLOCK_BYTES - size % ARCHIVE_BLOCK_BYTES) % ARCHIVE_BLOCK_BYTES;
}

void archive_write_padding(long long size) { archive_write_zeros((size_t)archive_padding(size)); }

/* `width` octal digits and a NUL. */
static void put_octal(char *field, int width, long long number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%0*llo", width, (unsigned long long)number);
  memcpy(field, digits, (size_t)width + 1);
}

static long long at_most(long long number, long long most) { return number > most ? most : number; }

/* Copies as much as a field holds; it needs no NUL at its end. */
static void put_text(char *field, size_t size, const char *text) { memcpy(field, text, strnlen(text, size)); }

static void write_block(const struct archive_entry *entry) {
  char block[ARCHIVE_BLOCK_BYTES] = {0};
  put_text(block, MAX_SHORT_NAME, entry->name);
  put_octal(block + 100, 7, entry->mode & 07777);
  put_octal(block + 108, 7, at_most(entry->uid, MAX_OWNER));
  put_octal(block + 116, 7, at_most(entry->gid, MAX_OWNER));
  put_octal(block + 124, 11, at_most(entry->size, MAX_SIZE));
  put_octal(block + 136, 11, at_most(entry->mtime < 0 ? 0 : entry->mtime, MAX_SIZE));
  block[156] = entry->type;
  put_text(block + 157, MAX_SHORT_NAME, entry->link);
  memcpy(block + 257, "ustar\0" "00", 8);
  snprintf(block + 148, 8, "%06o", archive_sum(block));
  block[155] = ' ';
  archive_write(block, sizeof block);
}

static size_t put_record(char *records, size_t size, const char *key, const char *value) {
  /* The length counts its own digits. */
  size_t length = strlen(key) + strlen(value) + 3, whole = length + 1;
  while (whole != length + (size_t)snprintf(NULL, 0, "%zu", whole)) whole++;
  snprintf(records, size, "%zu %s=%s\n", whole, key, value);
  return whole;
}

static size_t put_number(char *records, size_t size, const char *key, long long number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", number);
  return put_record(records, size, key, digits);
}

void archive_write_header(const struct archive_entry *entry) {
  static char records[ARCHIVE_MAX_RECORDS_BYTES];
  static struct archive_entry extra;
  size_t length = 0;
#define REST records + length, sizeof records - length
  if (strlen(entry->name) > MAX_SHORT_NAME) length += put_record(REST, "path", entry->name);
  if (strlen(entry->link) > MAX_SHORT_NAME) length += put_record(REST, "linkpath", entry->link);
  if (entry->size > MAX_SIZE) length += put_number(REST, "size", entry->size);
  if (entry->uid > MAX_OWNER) length += put_number(REST, "uid", entry->uid);
  if (entry->gid > MAX_OWNER) length += put_number(REST, "gid", entry->gid);
#undef REST
  if (length > 0) {
    extra = (struct archive_entry){.name = "PaxHeader", .type = 'x', .mode = 0644, .size = (long long)length};
    write_block(&extra);
    archive_write(records, length);
    archive_write_padding((long long)length);
  }
  write_block(entry);
}
