#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"

/* From <linux/if_tun.h>, which is not part of the C library. */
#define TUNSETIFF _IOW('T', 202, int)
#define IFF_TAP 0x0002
#define IFF_NO_PI 0x1000
#define IFF_VNET_HDR 0x4000

/*
 * While descriptors get their final numbers, they are kept at numbers from this one on. No final number is
 * as high.
 */
#define PARKING_FD 64
/* The most files that the VMM may have open. The sockets of user-mode networking count too. */
#define MAX_OPEN_FILES 1024

static void limit(int resource, rlim_t value) {
  struct rlimit bound = {value, value};
  setrlimit(resource, &bound);
}

/*
 * The keeper reads what a guest sends, so it gives up the rights of root and becomes a user that nobody else
 * has. If the VMM is the keeper's own child, it is a process of another user, and killing it needs a
 * capability, which the keeper then keeps.
 */
void keeper_drop_privileges(const struct vm *vm, const struct options *options) {
  bool apart = vm->orders_fd >= 0;
  if (apart) files_order_from(vm->orders_fd);
  if (!apart || options->keeper_uid < 0) {
    give_up_root(apart ? 0 : 1u << CAP_KILL);
    return;
  }
  uid_t user = (uid_t)options->keeper_uid;
  jail_leave_host();
  drop_bounding_set();
  /* If the change of user fails, the process ends: the keeper must not go on as root. */
  if (setgroups(0, NULL) < 0 || setresgid(user, user, user) < 0 || setresuid(user, user, user) < 0) _exit(1);
  drop_capabilities(0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static _Noreturn void refuse(const char *what) {
  dprintf(2, "keeper: %s: %s\n", what, strerror(errno));
  _exit(125);
}

static void jail(const struct options *options) {
  group_offer_to_killer(VMM_KILL_SCORE);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, MAX_OPEN_FILES);
  if (options->address_space_mb > 0) limit(RLIMIT_AS, (rlim_t)options->address_space_mb << 20);
  if (chdir("/") < 0) refuse("chdir");
  if (options->uid >= 0) {
    if (!jail_enter()) refuse("jail");
    drop_bounding_set();
    if (setgroups(0, NULL) < 0 || setresgid((gid_t)options->gid, (gid_t)options->gid, (gid_t)options->gid) < 0 ||
        setresuid((uid_t)options->uid, (uid_t)options->uid, (uid_t)options->uid) < 0) {
      refuse("drop privileges");
    }
  }
  drop_capabilities(0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) refuse("no_new_privs");
}

static void place(int fd, int number) {
  if (dup2(fd, number) < 0) refuse("dup2");
}

/*
 * Opens the network device for the VMM, so that the VMM needs neither the device file nor a right to any
 * network of the host. The flags are those that QEMU uses when it opens a device itself, because a snapshot
 * contains them.
 */
static void open_tap(const char *name) {
  struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
  if (strlen(name) >= sizeof request.ifr_name) {
    errno = ENAMETOOLONG;
    refuse(name);
  }
  strcpy(request.ifr_name, name);
  int fd = open("/dev/net/tun", O_RDWR);
  if (fd < 0) refuse("/dev/net/tun");
  if (ioctl(fd, TUNSETIFF, &request) < 0) refuse(name);
  if (fd == VMM_TAP_FD) return;
  place(fd, VMM_TAP_FD);
  close(fd);
}

/* Gives the VMM's ends of its channels, and its standard files, the numbers that it knows. */
static void place_ends(const struct vmm_ends *ends) {
  int parked[4];
  for (int i = 0; i < 4; i++) parked[i] = fcntl(ends->channels[i], F_DUPFD_CLOEXEC, PARKING_FD);
  int exec_fd = fcntl(ends->exec_fd, F_DUPFD_CLOEXEC, PARKING_FD);
  int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  place(ends->error_fd, 1);
  place(ends->error_fd, 2);
  place(null_fd, 0);
  for (int i = 0; i < 4; i++) place(parked[i], VMM_CONSOLE_FD + i);
  place(exec_fd, VMM_EXEC_FD);
}

/*
 * Turns this process into the VMM. `keeper` is the process whose end must end the VMM; 0: the first process
 * of the namespace sees to that.
 */
static _Noreturn void become_vmm(const struct options *options, pid_t keeper) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  if (options->tap != NULL) open_tap(options->tap);
  jail(options);
  /* This comes after the change of user, because that clears the signal. */
  if (keeper != 0) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (keeper != 0 && getppid() != keeper) _exit(125);
  execv(options->command[0], options->command);
  refuse(options->command[0]);
}

static bool pair(int *ours, int *theirs) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return false;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  *ours = ends[0];
  *theirs = ends[1];
  return true;
}

/*
 * Prepares a process namespace. The keeper can always end its first process, and then the kernel ends
 * everything else in the namespace.
 */
static bool start_apart(struct vm *vm, struct init_ends *ends) {
  int status[2] = {-1, -1}, orders[2] = {-1, -1}, on = 1;
  vm->status_fd = vm->orders_fd = -1;
  bool made = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, status) == 0 &&
              socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders) == 0 &&
              setsockopt(status[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 && unshare(CLONE_NEWPID) == 0;
  for (int i = 0; i < 2 && !made; i++) {
    if (status[i] >= 0) close(status[i]);
    if (orders[i] >= 0) close(orders[i]);
  }
  if (!made) return false;
  vm->status_fd = status[0];
  vm->orders_fd = orders[0];
  *ends = (struct init_ends){status[1], orders[1], status[0], orders[0]};
  return true;
}

bool vm_fork(struct vm *vm, const struct options *options, const struct vmm_ends *theirs) {
  pid_t keeper = getpid();
  struct init_ends ends;
  bool apart = options->uid >= 0 && start_apart(vm, &ends);
  if (!apart) vm->status_fd = vm->orders_fd = -1;
  vm->child = fork();
  if (vm->child < 0) return false;
  if (vm->child == 0) {
    if (apart) init_run(ends);
    if (theirs != NULL) place_ends(theirs);
    become_vmm(options, apart ? 0 : keeper);
  }
  if (apart) {
    close(ends.status_fd);
    close(ends.orders_fd);
  }
  vm->pid = apart ? init_await_vmm(vm->status_fd) : vm->child;
  if (vm->pid == 0) vm->pid = vm->child;
  return true;
}

bool vm_start(struct vm *vm, const struct options *options) {
  struct vmm_ends theirs;
  int error_pipe[2];
  if (!pair(&vm->console_fd, &theirs.channels[0]) || !pair(&vm->log_fd, &theirs.channels[1]) ||
      !pair(&vm->control_fd, &theirs.channels[2]) || !pair(&vm->monitor_fd, &theirs.channels[3]) ||
      pipe2(error_pipe, O_CLOEXEC) < 0) {
    return false;
  }
  /* The VMM accepts one agent at a time, and the next one waits. */
  theirs.exec_fd = socket_listen("exec.sock", 1);
  if (theirs.exec_fd < 0) return false;
  fcntl(error_pipe[0], F_SETFL, O_NONBLOCK);
  vm->error_fd = error_pipe[0];
  theirs.error_fd = error_pipe[1];
  if (!vm_fork(vm, options, &theirs)) return false;
  for (int i = 0; i < 4; i++) close(theirs.channels[i]);
  close(theirs.error_fd);
  close(theirs.exec_fd);
  if (options->volume_fd >= 0) close((int)options->volume_fd);
  return true;
}

void vm_kill(struct vm *vm) {
  if (vm->orders_fd < 0) kill(vm->child, SIGKILL);
  else files_order_end();
}

bool vm_wait(struct vm *vm, int *status, long long *cpu_us) {
  struct rusage usage;
  struct init_report report;
  if (vm->status_fd >= 0 && recv(vm->status_fd, &report, sizeof report, MSG_DONTWAIT) == sizeof report) {
    *status = report.status;
    *cpu_us = report.cpu_us;
    return true;
  }
  /* No report can be read: the child was the VMM itself, or it ended before it could report. */
  if (wait4(vm->child, status, 0, &usage) < 0) return false;
  *cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  vm->child = -1;
  return true;
}

void vm_close(struct vm *vm) {
  if (vm->orders_fd >= 0) close(vm->orders_fd);
  if (vm->child > 0) waitpid(vm->child, NULL, 0);
}
