/*
 * A machine that lives for a moment: templates are made in such a machine, and KVM is tried in one. The
 * process that started this one talks to the VMM directly, over the channels with which this process was
 * started, under the numbers in keeper.h. This process gives the VMM the jail of a VM and watches it as a
 * keeper does, but it reads nothing that the guest sends and writes no file.
 *
 *   keeper transient key=value... -- <qemu> <arguments...>    uid, gid, keeper_uid and address_space_mb of options.c
 *
 * It ends the VMM on SIGTERM, and when the process that started it ends. When it has ended itself, nothing
 * of the machine is left. Its exit status is that of the VMM, or 128 plus the signal that ended the VMM.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"

static int watch_signals(void) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  sigprocmask(SIG_BLOCK, &watched, NULL);
  /* A VMM that somebody stops and continues has not ended. */
  struct sigaction ends_alone = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
  sigaction(SIGCHLD, &ends_alone, NULL);
  return signalfd(-1, &watched, SFD_CLOEXEC);
}

/*
 * The process that started this one has the other end of the monitor. If that end is closed, the process had
 * ended before this one asked for the signal.
 */
static void end_with_starter(void) {
  struct pollfd starter = {.fd = VMM_MONITOR_FD};
  prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  if (poll(&starter, 1, 0) != 0) _exit(125);
}

/*
 * Only the VMM keeps the channels, so that the process which started this one sees them closed after its
 * end.
 */
static void close_channels(const struct vm *vm, int signal_fd) {
  for (int fd = 0; fd <= VMM_MONITOR_FD; fd++) {
    if (fd != vm->status_fd && fd != vm->orders_fd && fd != signal_fd) close(fd);
  }
}

static void await_end(struct vm *vm, int signal_fd) {
  for (;;) {
    struct pollfd ready[2] = {{.fd = signal_fd, .events = POLLIN}, {.fd = vm->status_fd, .events = POLLIN}};
    struct signalfd_siginfo told;
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents != 0) return;
    if (read(signal_fd, &told, sizeof told) != sizeof told) continue;
    if (told.ssi_signo == SIGTERM) vm_kill(vm);
    else if (vm->status_fd < 0) return;
  }
}

int transient_main(char **arguments) {
  struct options options;
  struct vm vm;
  int status;
  long long cpu_us;
  if (!options_parse(&options, arguments)) return 2;
  if (options.uid >= 0) jail_prepare(options.command[0]);
  jail_close_on_exec();
  int signal_fd = watch_signals();
  if (signal_fd < 0 || !vm_fork(&vm, &options, NULL)) return 125;
  keeper_drop_privileges(&vm, &options);
  /* This comes after the change of user, because that clears the signal. */
  end_with_starter();
  close_channels(&vm, signal_fd);
  await_end(&vm, signal_fd);
  if (!vm_wait(&vm, &status, &cpu_us)) return 125;
  vm_close(&vm);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
