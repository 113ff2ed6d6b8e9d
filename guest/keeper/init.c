/*
 * The first process of a VM's own process namespace, between the keeper and the VMM. It waits for the VMM
 * and tells the keeper how the VMM ended. On the keeper's order it kills everything in the namespace; it may
 * do nothing else to other processes. When it ends itself, in any way, the kernel ends everything in the
 * namespace. It ends with the keeper.
 *
 * It runs as root, but its only capability is the one to kill. Root also owns the files of the instance, so
 * this process does with them what the keeper may not (files.c). A guest can not reach it: it reads nothing
 * but the keeper's orders, which have a fixed size.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"

/* A number larger than the count of files that a keeper ever has open. */
#define MAX_KEEPER_FILES 256

static void close_what_is_not_ours(const struct init_ends *ends) {
  for (int fd = 0; fd < MAX_KEEPER_FILES; fd++) {
    if (fd != ends->status_fd && fd != ends->orders_fd && !files_is_ours(fd)) close(fd);
  }
}

/*
 * Makes this process end with the keeper, and ends it at once if the keeper has already ended. The parent's
 * process id does not show that, because inside the namespace it is always 0. The keeper's end of the socket
 * does: it is closed if the keeper ended before the signal was set.
 */
static void end_with_keeper(int status_fd) {
  struct pollfd keeper = {.fd = status_fd};
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (poll(&keeper, 1, 0) != 0) _exit(125);
}

/*
 * Makes the kernel kill the VMM when the keeper ends, also while this process is stopped. The keeper's end of
 * the socket is then closed; the keeper never writes to it, so nothing else causes the signal. A parent death
 * signal would not come: the keeper has another user by then, which may not send signals to this process.
 */
static void end_vmm_with_keeper(int status_fd, pid_t vmm) {
  if (fcntl(status_fd, F_SETOWN, vmm) < 0 || fcntl(status_fd, F_SETSIG, SIGKILL) < 0) return;
  fcntl(status_fd, F_SETFL, fcntl(status_fd, F_GETFL) | O_ASYNC);
}

/* Ends everything that the VMM has left running, and only then reports the VMM's end. */
static void report_end(int vmm_status, int status_fd) {
  struct init_report report = {.status = vmm_status};
  struct rusage usage;
  kill(-1, SIGKILL);
  while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) continue;
  getrusage(RUSAGE_CHILDREN, &usage);
  report.cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  if (send(status_fd, &report, sizeof report, MSG_NOSIGNAL) < 0) _exit(125);
}

static int watch_children(void) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

static _Noreturn void serve(pid_t vmm, const struct init_ends *ends) {
  struct pollfd ready[2] = {{.fd = watch_children(), .events = POLLIN}, {.fd = ends->orders_fd, .events = POLLIN}};
  struct signalfd_siginfo told;
  int status;
  if (ready[0].fd < 0) _exit(125);
  for (;;) {
    if (poll(ready, 2, -1) < 0) continue;
    while (read(ready[0].fd, &told, sizeof told) > 0) continue;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == vmm) report_end(status, ends->status_fd);
    }
    if (ready[1].revents != 0 && !files_serve(ends->orders_fd)) _exit(0);
  }
}

void init_run(struct init_ends ends) {
  /*
   * This process kills all processes that it sees. If it is not the first process of its own namespace, it
   * would see and kill the host's processes, so it ends here.
   */
  if (getpid() != 1) _exit(125);
  close(ends.keeper_status_fd);
  close(ends.keeper_orders_fd);
  end_with_keeper(ends.status_fd);
  pid_t vmm = fork();
  if (vmm < 0) _exit(125);
  if (vmm == 0) {
    /*
     * The message is empty. The kernel adds the id of this process, in the form in which the receiver sees
     * it.
     */
    if (send(ends.status_fd, "", 1, MSG_NOSIGNAL) < 0) _exit(125);
    return;
  }
  outbox_forget();
  close_what_is_not_ours(&ends);
  if (chdir("/") < 0) _exit(125);
  give_up_root(1u << CAP_KILL);
  end_vmm_with_keeper(ends.status_fd, vmm);
  end_with_keeper(ends.status_fd);
  serve(vmm, &ends);
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
