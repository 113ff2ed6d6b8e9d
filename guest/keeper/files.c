/*
 * The keeper's work with files after its start: new segments of the console, and the snapshot. The keeper
 * reads what guests send, so it runs as a user of its own that sees no file of the instance. The first
 * process of the VM's namespace (init.c) does the work on the keeper's orders; it reads nothing that a guest
 * sends. An order names a task and a number, never a path. Without such a process the keeper does the work
 * itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper.h"

#define NEW_DIRECTORY "snapshot.new"
#define MAX_TEXT_BYTES 128

enum task { OPEN_SEGMENT, DROP_SEGMENT, OPEN_MEMORY, DROP_MEMORY, PUBLISH, END_VM };

struct order {
  enum task task;
  long long number; /* the start of a segment, or the length of the text */
  char text[MAX_TEXT_BYTES];
};

static int console_directory = -1, instance_directory = -1;
/* The socket over which orders are sent to that process; -1: this process carries them out itself. */
static int orders_fd = -1;

bool files_open(const char *console_path) {
  console_directory = open(console_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  instance_directory = open("..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return console_directory >= 0 && instance_directory >= 0;
}

int files_console_directory(void) { return console_directory; }
bool files_is_ours(int fd) { return fd == console_directory || fd == instance_directory; }
void files_order_from(int fd) { orders_fd = fd; }

static const char *segment_name(long long start) {
  static char name[32];
  snprintf(name, sizeof name, "%016lld.log", start);
  return name;
}

static bool write_guest(int directory, const char *text, size_t length) {
  int fd = openat(directory, "guest", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool written = fd >= 0 && write(fd, text, length) == (ssize_t)length && fsync(fd) == 0 && fsync(directory) == 0;
  if (fd >= 0) close(fd);
  return written;
}

/*
 * Writes the guest's description into the new directory, and renames the directory to `snapshot`. From the
 * rename on the VM never goes on from the state before the snapshot, even if the disk then fails and the
 * snapshot is lost.
 */
static bool publish(const char *text, size_t length) {
  int directory = openat(instance_directory, NEW_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  bool published = directory >= 0 && write_guest(directory, text, length) &&
                   renameat(instance_directory, NEW_DIRECTORY, instance_directory, "snapshot") == 0;
  if (directory >= 0) close(directory);
  if (published) fsync(instance_directory);
  return published;
}

/* Returns a descriptor or 0, or -1 with errno. */
static int carry_out(const struct order *order) {
  switch (order->task) {
    case OPEN_SEGMENT:
      return openat(console_directory, segment_name(order->number), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    case DROP_SEGMENT:
      return unlinkat(console_directory, segment_name(order->number), 0);
    case OPEN_MEMORY:
      return openat(instance_directory, NEW_DIRECTORY "/memory", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    case DROP_MEMORY:
      return unlinkat(instance_directory, NEW_DIRECTORY "/memory", 0);
    case PUBLISH:
      return publish(order->text, (size_t)order->number) ? 0 : -1;
    case END_VM:
      break;
  }
  errno = EINVAL;
  return -1;
}

static bool gives_descriptor(enum task task) { return task == OPEN_SEGMENT || task == OPEN_MEMORY; }

union rights {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

static void answer(int to_fd, int error, int passed_fd) {
  union rights control = {0};
  struct iovec body = {&error, sizeof error};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};
  if (passed_fd >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &passed_fd, sizeof passed_fd);
  }
  /*
   * The answer always fits into the socket, because there is only one order at a time. A keeper that does
   * not read must not block this process.
   */
  if (sendmsg(to_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
}

bool files_serve(int from_fd) {
  struct order order;
  ssize_t got = recv(from_fd, &order, sizeof order, 0);
  if (got < 0 && errno == EINTR) return true;
  if (got != sizeof order) return false;
  bool fits = order.number >= 0 && (order.task != PUBLISH || order.number <= MAX_TEXT_BYTES);
  if (order.task == END_VM) {
    kill(-1, SIGKILL);
    return true;
  }
  errno = EINVAL;
  int result = fits ? carry_out(&order) : -1;
  int error = result < 0 ? errno : 0;
  int fd = error == 0 && gives_descriptor(order.task) ? result : -1;
  answer(from_fd, error, fd);
  if (fd >= 0) close(fd);
  return true;
}

static int ask(const struct order *order) {
  if (orders_fd < 0) return carry_out(order);
  union rights control = {0};
  int error = EPIPE, fd = 0;
  struct iovec body = {&error, sizeof error};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t got = send(orders_fd, order, sizeof *order, MSG_NOSIGNAL);
  if (got < 0) return -1;
  do got = recvmsg(orders_fd, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != sizeof error) error = EPIPE;
  struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (header != NULL && header->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(header), sizeof fd);
  errno = error;
  return error == 0 ? fd : -1;
}

int files_open_segment(long long start) { return ask(&(struct order){.task = OPEN_SEGMENT, .number = start}); }
void files_drop_segment(long long start) { ask(&(struct order){.task = DROP_SEGMENT, .number = start}); }
int files_open_memory(void) { return ask(&(struct order){.task = OPEN_MEMORY}); }
void files_drop_memory(void) { ask(&(struct order){.task = DROP_MEMORY}); }

bool files_publish(const char *text, size_t length) {
  struct order order = {.task = PUBLISH, .number = (long long)length};
  if (length > sizeof order.text) return false;
  memcpy(order.text, text, length);
  return ask(&order) == 0;
}

bool files_order_end(void) {
  struct order order = {.task = END_VM};
  return send(orders_fd, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof order;
}
