/*
 * Unpacks an archive below one directory. The modes and times of directories are set when all that is in
 * them has come, because a mode may forbid to write there and each file changes the time. Standard input
 * ends the work at the first error: what came before stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"

/* A directory that is not complete yet. The first `length` bytes of `open_path` are its name. */
struct open_directory {
  size_t length;
  mode_t mode;
  long long uid, gid, mtime;
};

static const struct archive_target *target;
static struct archive_entry entry;
static int base_fd = -1;
/* The names of the first entry, in the archive and below `base_fd`. Unused for `extract`. */
static char root_name[ARCHIVE_MAX_NAME], root_place[ARCHIVE_MAX_NAME];
static struct open_directory open_directories[ARCHIVE_MAX_DEPTH];
static size_t open_count;
static char open_path[ARCHIVE_MAX_NAME];

static bool fail(const char *name, const char *why) {
  dprintf(STDERR_FILENO, "%s: %s\n", name, why);
  return false;
}

static bool fail_by_errno(const char *name) { return fail(name, archive_why(errno)); }

/*
 * Sets what an open file or directory is to have. The mode comes last, because a new owner takes bits
 * from it.
 */
static bool set_attributes(int fd, mode_t mode, long long uid, long long gid, long long mtime) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = mtime}};
  if (target->owners && geteuid() == 0 && fchown(fd, (uid_t)uid, (gid_t)gid) < 0) return false;
  return fchmod(fd, mode) == 0 && futimens(fd, times) == 0;
}

static bool close_directory(void) {
  const struct open_directory *top = &open_directories[--open_count];
  open_path[top->length] = '\0';
  int fd = archive_open_directory(base_fd, open_path);
  bool done = fd >= 0 && set_attributes(fd, top->mode, top->uid, top->gid, top->mtime);
  if (!done) fail_by_errno(open_path);
  if (fd >= 0) close(fd);
  return done;
}

/* Completes the directories in which the next entry is not. */
static bool leave_directories(const char *next) {
  while (open_count > 0) {
    size_t length = open_directories[open_count - 1].length;
    if (strncmp(next, open_path, length) == 0 && (next[length] == '/' || next[length] == '\0')) return true;
    if (!close_directory()) return false;
  }
  return true;
}

static bool make_directory(const char *place) {
  const char *last;
  /* It is there, and the caller has named it: it stays as it is. */
  if (strcmp(place, ".") == 0) return true;
  if (open_count == ARCHIVE_MAX_DEPTH) return fail(place, "it is too deep");
  int parent = archive_open_parent(base_fd, place, &last);
  if (parent < 0) return fail_by_errno(place);
  int made = mkdirat(parent, last, 0700);
  close(parent);
  if (made < 0 && errno != EEXIST) return fail_by_errno(place);
  int fd = archive_open_directory(base_fd, place);
  if (fd < 0) return fail_by_errno(place);
  close(fd);
  strcpy(open_path, place);
  open_directories[open_count++] =
      (struct open_directory){strlen(place), entry.mode, entry.uid, entry.gid, entry.mtime};
  return true;
}

static bool fail_for_memory(void) {
  return fail(entry.name, "the memory of the instance is full, and files that are on no volume are in it; "
                          "give it more memory, or a volume for them");
}

/* `ENOSPC` of a volume is about its size, and that of other files about the memory. */
static bool fail_to_write(bool in_memory) {
  return in_memory && errno == ENOSPC ? fail_for_memory() : fail_by_errno(entry.name);
}

static bool copy_content(int fd) {
  static char bytes[64 << 10];
  bool in_memory = archive_is_in_memory(fd);
  if (in_memory && archive_memory_is_full(0)) return fail_for_memory();
  for (long long left = entry.size; left > 0;) {
    size_t got = archive_read_some(bytes, left < (long long)sizeof bytes ? (size_t)left : sizeof bytes);
    if (got == 0) return fail(entry.name, "the archive ends in it");
    if (in_memory && archive_memory_is_full(got)) return fail_for_memory();
    for (size_t sent = 0; sent < got;) {
      ssize_t written = write(fd, bytes + sent, got - sent);
      if (written < 0) return fail_to_write(in_memory);
      sent += (size_t)written;
    }
    left -= (long long)got;
  }
  return archive_skip(archive_padding(entry.size)) || fail(entry.name, "the archive ends after it");
}

/*
 * An entry that is no directory replaces a file or a link that has its name, and is never written through a
 * link. Whatever else has the name is not what people mean by a file.
 */
static bool may_replace(int parent, const char *last) {
  struct stat found;
  if (fstatat(parent, last, &found, AT_SYMLINK_NOFOLLOW) < 0) return errno == ENOENT || fail_by_errno(entry.name);
  if (S_ISREG(found.st_mode) || S_ISLNK(found.st_mode)) return true;
  return fail(entry.name, S_ISDIR(found.st_mode) ? "there is a directory of that name"
                                                 : "there is a device, pipe or socket of that name");
}

static bool make_room(int parent, const char *last) {
  return unlinkat(parent, last, 0) == 0 || errno == ENOENT || fail_by_errno(entry.name);
}

static bool make_file(int parent, const char *last) {
  int fd = archive_draft_open(parent);
  if (fd < 0) return fail_to_write(archive_is_in_memory(parent));
  bool copied = copy_content(fd);
  bool done = copied && set_attributes(fd, entry.mode, entry.uid, entry.gid, entry.mtime) && archive_draft_finish(last);
  if (copied && !done) fail_by_errno(entry.name);
  archive_draft_drop();
  close(fd);
  return done;
}

static bool make_link(int parent, const char *last) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = entry.mtime}};
  if (!make_room(parent, last)) return false;
  if (symlinkat(entry.link, parent, last) < 0) return fail_by_errno(entry.name);
  bool owned = !target->owners || geteuid() != 0 ||
               fchownat(parent, last, (uid_t)entry.uid, (gid_t)entry.gid, AT_SYMLINK_NOFOLLOW) == 0;
  if (!owned || utimensat(parent, last, times, AT_SYMLINK_NOFOLLOW) < 0) return fail_by_errno(entry.name);
  return true;
}

/* Where a name of the archive is, below `base_fd`. */
static bool place_of(char *place, const char *name) {
  char clean[ARCHIVE_MAX_NAME];
  if (!archive_clean_name(clean, name)) return fail(name, "the name is too long, or has '..'");
  size_t length = strlen(root_name);
  if (target->extract || strcmp(root_name, ".") == 0) {
    /* `.` in front is dropped, or replaced by the name that the copy gets. */
    bool renamed = !target->extract && strcmp(root_place, ".") != 0;
    int written = !renamed                   ? snprintf(place, ARCHIVE_MAX_NAME, "%s", clean)
                  : strcmp(clean, ".") == 0 ? snprintf(place, ARCHIVE_MAX_NAME, "%s", root_place)
                                             : snprintf(place, ARCHIVE_MAX_NAME, "%s/%s", root_place, clean);
    return written < ARCHIVE_MAX_NAME || fail(name, "the name is too long");
  }
  if (strncmp(clean, root_name, length) != 0 || (clean[length] != '/' && clean[length] != '\0')) {
    return fail(name, "it is outside of what is copied");
  }
  int written = snprintf(place, ARCHIVE_MAX_NAME, "%s%s", root_place, clean + length);
  return written < ARCHIVE_MAX_NAME || fail(name, "the name is too long");
}

static bool make_hard_link(int parent, const char *last) {
  char place[ARCHIVE_MAX_NAME];
  const char *linked;
  if (!place_of(place, entry.link) || !make_room(parent, last)) return false;
  int from = archive_open_parent(base_fd, place, &linked);
  bool done = from >= 0 && linkat(from, linked, parent, last, 0) == 0;
  if (!done) fail_by_errno(entry.name);
  if (from >= 0) close(from);
  return done;
}

static bool take_entry(void) {
  char place[ARCHIVE_MAX_NAME];
  const char *last;
  if (!place_of(place, entry.name) || !leave_directories(place)) return false;
  if (entry.type == '5') {
    return make_directory(place) && (archive_skip(entry.size + archive_padding(entry.size)) ||
                                     fail(entry.name, "the archive ends in it"));
  }
  if (strchr("346", entry.type) != NULL) {
    dprintf(STDERR_FILENO, "%s: a device or pipe is left out\n", entry.name);
    return true;
  }
  if (strchr("012", entry.type) == NULL) return fail(entry.name, "it is of a kind that can not be copied");
  if (strcmp(place, ".") == 0) return fail(entry.name, "it is no directory");
  int parent = archive_open_parent(base_fd, place, &last);
  if (parent < 0) return fail_by_errno(entry.name);
  bool done = may_replace(parent, last) && (entry.type == '0'   ? make_file(parent, last)
                                            : entry.type == '1' ? make_hard_link(parent, last)
                                                                : make_link(parent, last));
  close(parent);
  return done;
}

static bool open_base(const char *path) {
  base_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return base_fd >= 0 || fail_by_errno(path);
}

/*
 * Opens the directory of a target that does not exist or is no directory, and names the copy by its last
 * part.
 */
static bool open_parent_of(char *path) {
  char *slash = strrchr(path, '/');
  snprintf(root_place, sizeof root_place, "%s", slash == NULL ? path : slash + 1);
  if (slash == NULL) return open_base(".");
  slash[1] = '\0';
  return open_base(path);
}

/*
 * Says where the first entry goes, as `cp -r` does: into a directory that is there, else by the target's
 * name.
 */
static bool choose_place(void) {
  static char path[ARCHIVE_MAX_NAME], real[ARCHIVE_MAX_NAME];
  struct stat found;
  if (target->extract) return open_base(target->path);
  if (!archive_clean_name(root_name, entry.name)) return fail(entry.name, "the name is too long, or has '..'");
  bool exists = stat(target->path, &found) == 0;
  if (exists && S_ISDIR(found.st_mode)) {
    strcpy(root_place, root_name);
    return open_base(target->path);
  }
  if (exists && entry.type == '5') return fail(target->path, "it is a file, and a directory is copied to it");
  if (!exists && errno != ENOENT) return fail_by_errno(target->path);
  snprintf(path, sizeof path, "%s", target->path);
  size_t length = strlen(path);
  bool wants_directory = length > 0 && path[length - 1] == '/';
  if (wants_directory && entry.type != '5') return fail(target->path, "there is no such directory");
  while (length > 1 && path[length - 1] == '/') path[--length] = '\0';
  /* A link that was named is followed to the file that it stands for. */
  if (exists && realpath(path, real) != NULL) return open_parent_of(real);
  return open_parent_of(path);
}

static bool unpack_all(void) {
  for (;;) {
    enum archive_found found = archive_read_entry(&entry);
    if (found == ARCHIVE_UNSOUND) return false;
    if (found == ARCHIVE_END) break;
    if (base_fd < 0 && !choose_place()) return false;
    if (!take_entry()) return false;
  }
  return base_fd >= 0 || !target->extract || choose_place();
}

int archive_unpack(const struct archive_target *wanted) {
  target = wanted;
  umask(0);
  if (target->owners && geteuid() != 0) {
    dprintf(STDERR_FILENO, "the owners are not kept: the application's user is not root\n");
  }
  bool done = unpack_all();
  while (open_count > 0) done = close_directory() && done;
  if (!done) return 1;
  /* What follows the end of an archive is only padding. */
  while (archive_skip(1 << 20)) continue;
  return 0;
}
