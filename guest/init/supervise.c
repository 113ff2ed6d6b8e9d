/*
 * Life beside the application: its output is pumped to the host, orphans are reaped, the shutdown signal is passed on,
 * and its end is reported before the machine goes off.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

/* Looking for the first listening socket: its time is right to an eighth, and after ten minutes nobody asks any more. */
#define LISTEN_SHARE 8
#define LISTEN_FIRST_WAIT_MS 4
#define LISTEN_LONGEST_WAIT_MS 500
#define LISTEN_WATCH_MS 600000
#define REPORT_WAIT_MS 2000
#define NEVER (-1LL)

struct watch {
  pid_t application;
  int signal_fd;
  long oom_kills_at_start;
  long long kill_at_ms;
  long long started_at_ms, listen_at_ms;
  bool killed;
};

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void wait_for_bye(void) {
  for (long long until_ms = now_ms() + REPORT_WAIT_MS; now_ms() < until_ms;) {
    struct pollfd ready = {.fd = channel_fd(), .events = POLLIN | (channel_has_outbox() ? POLLOUT : 0)};
    poll(&ready, 1, 100);
    channel_pump();
    for (char *line; (line = channel_line()) != NULL;) {
      if (strcmp(line, "bye") == 0) return;
    }
  }
}

/* The kernel says "Power down" on its console at the highest level; that is no line of the application's. */
static void silence_console(void) {
  int fd = open("/sys/class/tty/ttyS0/console", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, "N", 1) < 0) errno = 0;
}

void finish(const char *how, int value, bool out_of_memory, bool killed) {
  char line[128];
  snprintf(line, sizeof line, "exit %s %d oom %d killed %d output %lld\n", how, value, out_of_memory, killed,
           output_written());
  channel_send(line);
  wait_for_bye();
  sync();
  silence_console();
  reboot(RB_POWER_OFF);
  die("can not power off: %s", strerror(errno));
}

static void application_ended(struct watch *watch, int status) {
  output_drain();
  if (!WIFSIGNALED(status)) finish("code", WEXITSTATUS(status), false, false);
  bool killed = watch->killed && WTERMSIG(status) == SIGKILL;
  bool out_of_memory = !killed && WTERMSIG(status) == SIGKILL && oom_kill_count() > watch->oom_kills_at_start;
  finish("signal", WTERMSIG(status), out_of_memory, killed);
}

static void reap(struct watch *watch) {
  struct signalfd_siginfo ignored;
  if (read(watch->signal_fd, &ignored, sizeof ignored) < 0) errno = 0;
  int status;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended == watch->application) application_ended(watch, status);
  }
}

static void obey(struct watch *watch) {
  channel_pump();
  for (char *line; (line = channel_line()) != NULL;) {
    long long grace_ms;
    if (sscanf(line, "shutdown %lld", &grace_ms) != 1) continue;
    kill(watch->application, SIGTERM);
    /* A repeated request may shorten the grace, never stretch it. */
    long long at_ms = now_ms() + grace_ms;
    if (watch->kill_at_ms == NEVER || at_ms < watch->kill_at_ms) watch->kill_at_ms = at_ms;
  }
}

static void look_for_listener(struct watch *watch) {
  long long now = now_ms();
  if (watch->listen_at_ms == NEVER || now < watch->listen_at_ms) return;
  if (socket_listens()) {
    channel_send("listen\n");
    watch->listen_at_ms = NEVER;
    return;
  }
  long long elapsed_ms = now - watch->started_at_ms;
  long long wait_ms = elapsed_ms / LISTEN_SHARE;
  if (wait_ms < LISTEN_FIRST_WAIT_MS) wait_ms = LISTEN_FIRST_WAIT_MS;
  if (wait_ms > LISTEN_LONGEST_WAIT_MS) wait_ms = LISTEN_LONGEST_WAIT_MS;
  watch->listen_at_ms = elapsed_ms < LISTEN_WATCH_MS ? now + wait_ms : NEVER;
}

static void enforce_grace(struct watch *watch) {
  if (watch->kill_at_ms == NEVER || now_ms() < watch->kill_at_ms) return;
  watch->killed = true;
  watch->kill_at_ms = NEVER;
  kill(watch->application, SIGKILL);
}

static int next_wait_ms(const struct watch *watch) {
  long long next = watch->listen_at_ms;
  if (next == NEVER || (watch->kill_at_ms != NEVER && watch->kill_at_ms < next)) next = watch->kill_at_ms;
  if (next == NEVER) return -1;
  long long wait = next - now_ms();
  return wait < 0 ? 0 : wait > 60000 ? 60000 : (int)wait;
}

static int open_signals(void) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

void supervise(pid_t application) {
  long long now = now_ms();
  struct watch watch = {
      .application = application, .signal_fd = open_signals(),
      .oom_kills_at_start = oom_kill_count(), .kill_at_ms = NEVER,
      .started_at_ms = now, .listen_at_ms = now + LISTEN_FIRST_WAIT_MS};
  reap(&watch); /* it may have ended before the signal was blocked */
  for (;;) {
    struct pollfd ready[3] = {
        {.fd = watch.signal_fd, .events = POLLIN},
        {.fd = channel_fd(), .events = POLLIN | (channel_has_outbox() ? POLLOUT : 0)},
        output_interest()};
    poll(ready, 3, next_wait_ms(&watch));
    if (ready[1].revents) obey(&watch);
    if (ready[1].revents & POLLHUP) usleep(1000);
    if (ready[2].revents) output_pump();
    if (ready[0].revents) reap(&watch);
    enforce_grace(&watch);
    look_for_listener(&watch);
  }
}
