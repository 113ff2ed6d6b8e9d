#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper.h"

#define MAX_VMM_LOG_BYTES 65536
/* How long the keeper waits before it checks again whether a throttled guest may send more. */
#define THROTTLE_WAIT_MS 20

static struct options options;
static struct vm vm;
static int vmm_log = -1;

static long long start_time_of(pid_t pid) {
  char path[64], text[1024] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  /* The start time is field 22. The name before it may hold spaces, but ends with the last parenthesis. */
  char *at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  return at != NULL ? atoll(at) : 0;
}

/*
 * Copies what the VMM writes to its standard error into vmm.log. Returns false once the other end is closed.
 */
static bool pump_errors(void) {
  static char buffer[MAX_VMM_LOG_BYTES];
  static size_t kept;
  ssize_t got = read(vm.error_fd, buffer, sizeof buffer);
  if (got <= 0) return got < 0 && errno == EAGAIN;
  size_t room = MAX_VMM_LOG_BYTES - kept;
  size_t taken = (size_t)got < room ? (size_t)got : room;
  if (write(vmm_log, buffer, taken) > 0) kept += taken;
  return true;
}

static int next_wait_ms(bool throttled) {
  long long deadline_ms = guest_deadline_ms();
  long long wait_ms = deadline_ms < 0 ? -1 : deadline_ms - now_ms();
  if (deadline_ms >= 0 && wait_ms < 0) wait_ms = 0;
  if (throttled && (wait_ms < 0 || wait_ms > THROTTLE_WAIT_MS)) wait_ms = THROTTLE_WAIT_MS;
  int ticks_ms[] = {suspend_wait_ms(), stall_wait_ms(), guest_wake_wait_ms(), guest_tell_wait_ms()};
  for (size_t i = 0; i < sizeof ticks_ms / sizeof *ticks_ms; i++) {
    if (ticks_ms[i] >= 0 && (wait_ms < 0 || wait_ms > ticks_ms[i])) wait_ms = ticks_ms[i];
  }
  return wait_ms > 60000 ? 60000 : (int)wait_ms;
}

static void enforce_deadline(void) {
  static bool enforced;
  long long deadline_ms = guest_deadline_ms();
  if (enforced || deadline_ms < 0 || now_ms() < deadline_ms) {
    if (!machine_is_stuck() || enforced) return;
  } else {
    event("kill unresponsive");
  }
  enforced = true;
  machine_kill();
}

/*
 * Watches the VM, and returns when the VMM has exited. The VMM may close a channel before that, or its
 * sending half. Such a channel is readable for ever and would keep poll awake, so the keeper stops polling
 * it once it has read its end.
 */
static void watch_vm(int end_fd) {
  struct pollfd ready[7 + MAX_CLIENTS + 1];
  bool control_gone = false, monitor_gone = false;
  for (;;) {
    bool allowed = meter_allows_output();
    /*
     * While the VM is being made into a snapshot, its CPUs are stopped. Everything that it sent before is
     * read now, even above the limit, because the next keeper does not get it.
     */
    bool heard = meter_allows_words() || suspend_under_way();
    bool listens = !control_gone && (heard || outbox_waits());
    ready[0] = (struct pollfd){.fd = end_fd, .events = POLLIN};
    ready[1] = (struct pollfd){.fd = listens ? vm.control_fd : -1, .events = (short)((heard ? POLLIN : 0) | (outbox_waits() ? POLLOUT : 0))};
    ready[2] = (struct pollfd){.fd = monitor_gone ? -1 : vm.monitor_fd, .events = POLLIN};
    ready[3] = (struct pollfd){.fd = vm.error_fd, .events = POLLIN};
    ready[4] = (struct pollfd){.fd = allowed ? output_console_fd() : -1, .events = POLLIN};
    ready[5] = (struct pollfd){.fd = allowed ? output_log_fd() : -1, .events = POLLIN};
    ready[6] = (struct pollfd){.fd = term_fd(), .events = POLLIN};
    size_t count = control_poll(ready + 7);
    poll(ready, 7 + count, next_wait_ms(!allowed || !heard));
    if (ready[6].revents != 0) term_take();
    if (ready[5].revents) output_take_log();
    if (ready[4].revents) output_take_console();
    if (ready[3].revents && !pump_errors()) {
      close(vm.error_fd);
      vm.error_fd = -1;
    }
    if (ready[1].revents != 0 && outbox_waits()) outbox_write();
    if (ready[1].revents != 0 && heard) control_gone = !guest_read();
    if (ready[2].revents != 0) monitor_gone = !monitor_read();
    control_handle(ready + 7, count);
    suspend_tick();
    stall_tick();
    guest_wake_tick();
    guest_tell_tick();
    enforce_deadline();
    if (ready[0].revents) return;
  }
}

/* Reads what the VMM wrote before it ended. It is still in the sockets, and not more than they can hold. */
static void collect_rest(void) {
  output_collect();
  for (int rounds = 0; rounds < 16; rounds++) {
    guest_read();
    monitor_read();
  }
  if (vm.error_fd >= 0) pump_errors();
}

static void report_end(int status, long long cpu_us) {
  if (WIFSIGNALED(status)) event("ended signal %d cpu_us %lld", WTERMSIG(status), cpu_us);
  else event("ended exit %d cpu_us %lld", WEXITSTATUS(status), cpu_us);
  events_sync();
}

/* The host's term was over before there was a VM. For its readers the VM has ended at once. */
static int end_before_start(void) {
  event("kill host-cut-off");
  event("ended signal %d cpu_us 0", SIGKILL);
  events_sync();
  return 0;
}

static int block_signals(void) {
  sigset_t handled;
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  sigprocmask(SIG_BLOCK, &handled, NULL);
  /* A VMM that somebody stops and continues has not ended. */
  struct sigaction ends_alone = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
  sigaction(SIGCHLD, &ends_alone, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  return signalfd(-1, &handled, SFD_CLOEXEC);
}

/*
 * The order matters. The socket comes first, so that an agent which finds it dead can be sure that no VM
 * follows.
 */
static bool prepare(void) {
  int directory = open(options.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0 || fchdir(directory) < 0 || !control_open() || !events_open(directory)) return false;
  vmm_log = openat(directory, "vmm.log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (vmm_log < 0 || !files_open(options.console_directory) || !console_open()) return false;
  event("keeper %d %lld", (int)getpid(), start_time_of(getpid()));
  return term_open(options.term) && outbox_set_config(0);
}

int main(int count, char **arguments) {
  if (count == 3 && strcmp(arguments[1], "ram") == 0) return ram_main(arguments[2]);
  if (count >= 3 && strcmp(arguments[1], "wait") == 0) return waiting_main(arguments[2], arguments + 3);
  if (count >= 3 && strcmp(arguments[1], "enter") == 0) return enter_main(arguments + 2);
  if (count == 2 && strcmp(arguments[1], "clock") == 0) return clock_main();
  if (count == 3 && strcmp(arguments[1], "jail") == 0) return jail_main(arguments[2]);
  if (count >= 3 && strcmp(arguments[1], "transient") == 0) return transient_main(arguments + 2);
  if (count < 3 || strcmp(arguments[1], "run") != 0 || !options_parse(&options, arguments + 2)) return 2;
  if (options.directory == NULL || options.console_directory == NULL) return 2;
  umask(077);
  if (options.uid >= 0) jail_prepare(options.command[0]);
  jail_close_on_exec();
  int signal_fd = block_signals();
  stall_open(options.volume_fd);
  mirror_open(options.volume_fd);
  if (!prepare()) return 1;
  if (term_is_over()) return end_before_start();
  if (!vm_start(&vm, &options)) return 1;
  event("qemu %d %lld", (int)vm.pid, start_time_of(vm.pid));
  keeper_drop_privileges(&vm, &options);
  machine_open(&vm, &options);
  guest_open(vm.control_fd, &options);
  output_open(&vm);
  monitor_open(vm.monitor_fd, &options);
  outbox_write();
  term_take();

  watch_vm(vm.status_fd >= 0 ? vm.status_fd : signal_fd);
  int status;
  long long cpu_us;
  if (!vm_wait(&vm, &status, &cpu_us)) return 1;
  collect_rest();
  vm_close(&vm);
  report_end(status, cpu_us);
  return 0;
}
