/*
 * The first process of a VM's own namespace of processes, between the keeper and the VMM. It waits for the VMM and tells the keeper
 * how it ended. When it ends itself, however it does, the kernel ends all that is in the namespace. So the keeper ends the VM
 * by killing this process, which is of its own user, and the end of the keeper is the end of this process.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"

/* More than a keeper ever has open. */
#define MAX_KEEPER_FILES 256

static void close_all_but(int kept) {
  if (syscall(SYS_close_range, 0, kept - 1, 0) == 0 && syscall(SYS_close_range, kept + 1, ~0u, 0) == 0) return;
  /* Kernels before 5.9. */
  for (int fd = 0; fd < MAX_KEEPER_FILES; fd++) {
    if (fd != kept) close(fd);
  }
}

/* The number of the parent is 0 in here, whether it lives or not. */
static void end_with_keeper(int status_fd) {
  struct pollfd keeper = {.fd = status_fd};
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (poll(&keeper, 1, 0) != 0) _exit(125);
}

static _Noreturn void wait_for(pid_t vmm, int status_fd) {
  int status = 0;
  for (;;) {
    pid_t ended = waitpid(-1, &status, 0);
    if (ended == vmm) break;
    if (ended < 0 && errno != EINTR) _exit(125);
  }
  if (send(status_fd, &status, sizeof status, MSG_NOSIGNAL) < 0) _exit(125);
  _exit(0);
}

void init_run(struct init_ends ends) {
  close(ends.keeper_fd);
  end_with_keeper(ends.status_fd);
  pid_t vmm = fork();
  if (vmm < 0) _exit(125);
  if (vmm == 0) {
    /* The kernel adds our number, as the receiver knows it. */
    if (send(ends.status_fd, "", 1, MSG_NOSIGNAL) < 0) _exit(125);
    return;
  }
  guest_forget_config();
  close_all_but(ends.status_fd);
  if (chdir("/") < 0) _exit(125);
  give_up_root(0);
  end_with_keeper(ends.status_fd);
  wait_for(vmm, ends.status_fd);
}

pid_t init_await_vmm(int keeper_fd) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
  } control = {0};
  char byte;
  struct iovec body = {&byte, 1};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t got;
  do got = recvmsg(keeper_fd, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  struct cmsghdr *header = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
  if (header == NULL || header->cmsg_type != SCM_CREDENTIALS) return 0;
  struct ucred sender;
  memcpy(&sender, CMSG_DATA(header), sizeof sender);
  return sender.pid;
}
