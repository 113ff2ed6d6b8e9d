/*
 * The disable file, into which applications write when they must not be put into standby. It is a FUSE file
 * system of one file, which init itself serves from its loop. init must never open the file: it would wait
 * for an answer that only it can give.
 * init answers each request at once and keeps nothing about the process that asked, so many open files or
 * many writes cost only their own time.
 *
 * While the guest rests (it is about to become a snapshot), init reads no requests from the kernel. A process
 * that opens, reads or writes the file waits, and goes on afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

#define FILE_MODE (S_IFREG | 0666)
/* The most requests that init answers in one turn of its loop. The other requests wait for the next turn. */
#define MAX_REQUESTS_AT_ONCE 32
/* The size of the request buffer. The kernel wants at least 8192, room for a write and its headers. */
#define REQUEST_BYTES 16384
#define KEPT_SECONDS 3600

/* From <linux/fuse.h>, which musl-gcc does not find: the part of protocol 7.31 that is used here. */
#define FUSE_MAJOR 7
#define FUSE_MINOR 31
enum { FORGET = 2, GETATTR = 3, SETATTR = 4, OPEN = 14, READ = 15, WRITE = 16, STATFS = 17, RELEASE = 18, INIT = 26, INTERRUPT = 36, DESTROY = 38, BATCH_FORGET = 42 };
#define INIT_ATOMIC_TRUNCATE (1u << 3)
#define OPEN_DIRECT_IO (1u << 0)
#define OPEN_NO_FLUSH (1u << 5)
#define SET_MODE_OR_OWNER 7u
struct request { uint32_t length, operation; uint64_t unique, node; uint32_t uid, gid, pid, padding; };
struct reply { uint32_t length; int32_t error; uint64_t unique; };
struct init_reply { uint32_t major, minor, readahead, flags; uint16_t background, congestion; uint32_t max_write, time_gran; uint16_t max_pages, alignment; uint32_t unused[8]; };
struct attributes { uint64_t valid_s; uint32_t valid_ns, dummy; uint64_t node, size, blocks, times[3]; uint32_t times_ns[3], mode, links, uid, gid, device, block_size, flags; };
struct open_reply { uint64_t handle; uint32_t flags, padding; };
struct transfer { uint64_t handle, offset; uint32_t size, flags; uint64_t owner; uint32_t open_flags, padding; };
struct write_reply { uint32_t size, padding; };
struct statfs_reply { uint64_t blocks[5]; uint32_t block_size, name_length, fragment_size, padding, spare[6]; };

static int fuse_fd = -1;
static char buffer[REQUEST_BYTES] __attribute__((aligned(8)));

int disable_file_fd(void) { return fuse_fd; }

/* Replaces what the image has at this path, as far as that is possible. */
static bool make_mount_point(void) {
  mkdir("/uk", 0755);
  mkdir("/uk/libukp", 0755);
  unlink(DISABLE_FILE);
  int fd = open(DISABLE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

bool disable_file_open(void) {
  char options[96];
  fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  snprintf(options, sizeof options, "fd=%d,rootmode=%o,user_id=0,group_id=0,allow_other", fuse_fd, FILE_MODE);
  if (fuse_fd >= 0 && make_mount_point() && mount("roost", DISABLE_FILE, "fuse", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0) return true;
  say("no file %s: %s", DISABLE_FILE, strerror(errno));
  if (fuse_fd >= 0) close(fuse_fd);
  fuse_fd = -1;
  return false;
}

static void answer(const struct request *request, int error, const void *body, size_t length) {
  struct reply head = {(uint32_t)(sizeof head + length), -error, request->unique};
  char bytes[sizeof head + 256];
  memcpy(bytes, &head, sizeof head);
  if (length > 0) memcpy(bytes + sizeof head, body, length);
  /* The write fails if the process no longer waits for the answer. That does no harm. */
  if (write(fuse_fd, bytes, head.length) < 0) errno = 0;
}

static void answer_init(const struct request *request) {
  struct init_reply body = {.major = FUSE_MAJOR, .minor = FUSE_MINOR, .flags = INIT_ATOMIC_TRUNCATE, .max_write = MAX_DISABLE_TEXT};
  answer(request, 0, &body, sizeof body);
}

static void answer_attributes(const struct request *request) {
  struct attributes body = {.valid_s = KEPT_SECONDS, .node = 1, .mode = FILE_MODE, .links = 1, .block_size = 4096};
  answer(request, 0, &body, sizeof body);
}

static void answer_read(const struct request *request, const struct transfer *transfer) {
  char text[64];
  size_t length = disable_count_text(text);
  size_t from = transfer->offset < length ? (size_t)transfer->offset : length;
  size_t size = length - from < transfer->size ? length - from : transfer->size;
  answer(request, 0, text + from, size);
}

static void answer_write(const struct request *request, const struct transfer *transfer, size_t body_length) {
  struct write_reply body = {.size = transfer->size};
  if (body_length < sizeof *transfer + transfer->size) return;
  int error = disable_count_write((const char *)(transfer + 1), transfer->size);
  answer(request, error, &body, error != 0 ? 0 : sizeof body);
}

static void take(const struct request *request, size_t body_length) {
  const void *body = request + 1;
  struct open_reply opened = {.flags = OPEN_DIRECT_IO | OPEN_NO_FLUSH};
  struct statfs_reply empty = {.block_size = 4096, .name_length = 255};
  switch (request->operation) {
    case FORGET: case BATCH_FORGET: case INTERRUPT: return; /* no answer is expected */
    case INIT: answer_init(request); return;
    case GETATTR: answer_attributes(request); return;
    case SETATTR:
      if (*(const uint32_t *)body & SET_MODE_OR_OWNER) answer(request, EPERM, NULL, 0);
      else answer_attributes(request);
      return;
    case OPEN: answer(request, 0, &opened, sizeof opened); return;
    case READ: answer_read(request, body); return;
    case WRITE: answer_write(request, body, body_length); return;
    case STATFS: answer(request, 0, &empty, sizeof empty); return;
    case RELEASE: case DESTROY: answer(request, 0, NULL, 0); return;
    default: answer(request, ENOSYS, NULL, 0);
  }
}

void disable_file_serve(void) {
  for (int served = 0; fuse_fd >= 0 && served < MAX_REQUESTS_AT_ONCE; served++) {
    ssize_t got = read(fuse_fd, buffer, sizeof buffer);
    if (got < 0 && (errno == ENOENT || errno == EINTR)) continue; /* the process that asked has ended */
    if (got < 0 && errno == ENODEV) { /* somebody unmounted it */
      close(fuse_fd);
      fuse_fd = -1;
    }
    if (got < (ssize_t)sizeof(struct request)) return;
    take((const struct request *)buffer, (size_t)got - sizeof(struct request));
  }
}
