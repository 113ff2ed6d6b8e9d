/*
 * Archives for `roost cp`: what packs files of the guest into a tar stream, and unpacks one. Both run in
 * a process of their own with the user of the application. So a copy may do what the application may, and
 * an image needs no tar.
 *
 * The stream is ustar, with pax records for what ustar has no room for: long names, large files and
 * numbers. The reader also takes the long names of GNU tar, because people send what their tar makes.
 */
#ifndef ROOST_ARCHIVE_H
#define ROOST_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ARCHIVE_BLOCK_BYTES 512
/* The most bytes of a name in an archive, with its NUL. */
#define ARCHIVE_MAX_NAME 4096
/* Each directory on the way to a file takes a descriptor or a record. */
#define ARCHIVE_MAX_DEPTH 256
/* The most bytes of the pax records of one entry: two names and some numbers fit. */
#define ARCHIVE_MAX_RECORDS_BYTES (16u << 10)

struct archive_entry {
  char name[ARCHIVE_MAX_NAME];
  char link[ARCHIVE_MAX_NAME];
  char type; /* as in a header: '0' file, '1' hard link, '2' symbolic link, '5' directory */
  mode_t mode;
  long long uid, gid, size, mtime;
};

/* archive-write.c: writes to standard output. If nobody reads any more, the process ends. */
void archive_write(const void *bytes, size_t length);
void archive_write_zeros(size_t length);
void archive_write_header(const struct archive_entry *entry);
/* Writes zeros up to the end of the block in which content of this size ends. */
void archive_write_padding(long long size);
void archive_write_flush(void);

/* archive-read.c: reads standard input. */
enum archive_found { ARCHIVE_ENTRY, ARCHIVE_END, ARCHIVE_UNSOUND };
/* Reads up to the next entry, or says on standard error why the archive is not sound. */
enum archive_found archive_read_entry(struct archive_entry *entry);
/* Reads the next piece of content, at most `length` bytes. Returns 0 if the archive ended early. */
size_t archive_read_some(void *bytes, size_t length);
/* Returns false if the archive ended early. */
bool archive_skip(long long length);
long long archive_padding(long long size);

/* archive-numbers.c */
/* Octal digits, or a number to the base 256. Returns false if it is neither, or below 0 or too large. */
bool archive_number(const char *field, size_t length, long long *number);
/* The sum over a header, in which the bytes of the sum count as spaces. */
unsigned archive_sum(const char *block);
/* Takes pax records. Returns false if they are not sound. */
bool archive_take_records(struct archive_entry *entry, char *records, size_t length);

/*
 * archive-place.c: names below one directory. A way out of it, also one by a symbolic link, fails with
 * EXDEV.
 */
/*
 * Writes the name without `.` and doubled or leading slashes into `clean`, which has ARCHIVE_MAX_NAME
 * bytes; `.` if nothing is left. Returns false if it has `..`.
 */
bool archive_clean_name(char *clean, const char *name);
/*
 * Opens the directory in which the name is, and makes missing ones. `*last` becomes the last part of the
 * name.
 */
int archive_open_parent(int base_fd, const char *name, const char **last);
int archive_open_directory(int base_fd, const char *name);
const char *archive_why(int error);

/* archive-memory.c: files that are on no volume are in the guest's memory. */
bool archive_is_in_memory(int fd);
/*
 * Counts `length` bytes, or with 0 a new file, and looks now and then whether so little memory is left that
 * the kernel would soon end processes.
 */
bool archive_memory_is_full(size_t length);

/* archive-draft.c: a file before it is complete. A signal that ends the process removes it. */
/* Returns its descriptor, or -1 with errno. `parent` stays open until the file is finished or dropped. */
int archive_draft_open(int parent);
/* Gives the file its name, in place of a file or a link. Returns false with errno. */
bool archive_draft_finish(const char *last);
/* Removes the file if it was not finished. */
void archive_draft_drop(void);

/* Both return the exit code: 0, or 1 if something could not be copied. Standard error has said what. */
/* archive-pack.c */
int archive_pack(const char *path, bool follow);
/* archive-unpack.c */
struct archive_target {
  const char *path;
  bool extract; /* below an existing directory, with the names of the archive */
  bool owners;  /* keep the owners' numbers */
};
int archive_unpack(const struct archive_target *target);

#endif
