/*
 * What init does while the application runs: it reaps orphans, has users' programs run (exec.c), passes the
 * shutdown signal on, and reports the application's end before the machine goes off.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

/*
 * The bounds of the search for the first listening socket. The reported time is accurate to an eighth. After
 * ten minutes the search ends.
 */
#define LISTEN_SHARE 8
#define LISTEN_FIRST_WAIT_MS 4
#define LISTEN_LONGEST_WAIT_MS 500
#define LISTEN_WATCH_MS 600000
/*
 * The least time between two lines `disabled`. An application may change its mind about standby as often as
 * it likes. The host hears of it at most ten times a second, and always of the last change.
 */
#define DISABLED_PAUSE_MS 100
/*
 * The priority of this thread. It has little work, but that comes before the application's, such as setting
 * the clock after a sleep.
 */
#define FIRST_OF_ALL (-20)
#define NEVER (-1LL)

struct watch {
  pid_t application;
  int signal_fd;
  long oom_kills_at_start;
  long long kill_at_ms;
  long long started_at_ms, listen_at_ms;
  bool killed;
  /*
   * True after init answered `sleep ready`. A process that wants to speak against standby has to wait from
   * then on.
   */
  bool rests;
  /* True while init still owes the answer to `sleep?`, because the volume is not frozen yet. */
  bool hushes;
  bool disabled_told;
  long long disabled_at_ms; /* the next change is not told before this time */
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

void finish(const char *how, int value, bool out_of_memory, bool killed) {
  char line[128];
  snprintf(line, sizeof line, "exit %s %d oom %d killed %d output %lld\n", how, value, out_of_memory, killed,
           output_written());
  channel_send(line);
  wait_for_bye();
  volume_close();
  power_off();
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
    exec_note_end(ended);
  }
  exec_tend();
}

static void be_awake(struct watch *watch) {
  watch->rests = watch->hushes = false;
  volume_thaw();
}

/*
 * Answers the host's `awake`. The host holds traffic back until it reads this answer, because then init has
 * obeyed everything that the host sent before.
 */
static void wake(struct watch *watch) {
  be_awake(watch);
  channel_send("awake\n");
}

static void shut_down(struct watch *watch, long long grace_ms) {
  be_awake(watch); /* ends the wait of processes in a write; what they write no longer counts */
  kill(watch->application, SIGTERM);
  /* A second `shutdown` may shorten the grace time, but never extend it. */
  long long at_ms = now_ms() + grace_ms;
  if (watch->kill_at_ms == NEVER || at_ms < watch->kill_at_ms) watch->kill_at_ms = at_ms;
}

/*
 * Answers `sleep?`. If the answer is yes, it comes once the volume is frozen; otherwise, or without a
 * volume, at once.
 */
static void answer_sleep(struct watch *watch) {
  disable_file_serve(); /* writes that came before the answer count */
  watch->hushes = false;
  watch->rests = !disable_count_is_set();
  if (!watch->rests) volume_thaw();
  channel_send(watch->rests ? "sleep ready\n" : "sleep disabled\n");
}

static void think_of_sleep(struct watch *watch) {
  disable_file_serve();
  if (disable_count_is_set() || volume_hush()) answer_sleep(watch);
  else watch->hushes = true;
}

static void take_stillness(struct watch *watch) {
  if (volume_hush_ended() && watch->hushes) answer_sleep(watch);
}

static void take_entropy(char *hex) {
  if (strlen(hex) > 2 * MAX_ENTROPY_BYTES) return;
  size_t length = decode_hex(hex);
  if (length > 0) reseed_random(hex, length);
  explicit_bzero(hex, length);
}

static void obey(struct watch *watch) {
  channel_pump();
  for (char *line; (line = channel_line()) != NULL;) {
    long long value;
    if (parse_command(line, "shutdown", &value)) shut_down(watch, value);
    else if (parse_command(line, "time", &value)) set_clock_ns(value);
    else if (strncmp(line, "entropy ", 8) == 0) take_entropy(line + 8);
    else if (strcmp(line, "sleep?") == 0) think_of_sleep(watch);
    else if (strcmp(line, "awake") == 0) wake(watch);
  }
}

/*
 * Does nothing while earlier lines are still unsent, so that lines do not pile up while the host does not
 * read.
 */
static void tell_disabled(struct watch *watch) {
  bool disabled = disable_count_is_set();
  long long now = now_ms();
  if (disabled == watch->disabled_told || now < watch->disabled_at_ms || channel_has_outbox()) return;
  channel_send(disabled ? "disabled 1\n" : "disabled 0\n");
  watch->disabled_told = disabled;
  watch->disabled_at_ms = now + DISABLED_PAUSE_MS;
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

static long long earlier(long long one, long long other) {
  if (one == NEVER || other == NEVER) return one == NEVER ? other : one;
  return one < other ? one : other;
}

static int next_wait_ms(const struct watch *watch) {
  bool untold = disable_count_is_set() != watch->disabled_told && !channel_has_outbox();
  long long next = earlier(earlier(watch->listen_at_ms, watch->kill_at_ms), untold ? watch->disabled_at_ms : NEVER);
  if (next == NEVER) return -1;
  long long wait = next - now_ms();
  return wait < 0 ? 0 : wait > 60000 ? 60000 : (int)wait;
}

/* SIGIO says that the host has connected to port `exec`, or disconnected from it. */
static int open_signals(void) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGIO);
  sigprocmask(SIG_BLOCK, &watched, NULL);
  return signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

void supervise(pid_t application, const struct config *config) {
  long long now = now_ms();
  struct watch watch = {
      .application = application, .signal_fd = open_signals(),
      .oom_kills_at_start = oom_kill_count(), .kill_at_ms = NEVER,
      .started_at_ms = now, .listen_at_ms = now + LISTEN_FIRST_WAIT_MS};
  output_start();
  exec_open(config);
  setpriority(PRIO_PROCESS, 0, FIRST_OF_ALL);
  reap(&watch); /* the application may have ended before the signal was blocked */
  for (;;) {
    struct pollfd ready[4] = {
        {.fd = watch.signal_fd, .events = POLLIN},
        {.fd = channel_fd(), .events = POLLIN | (channel_has_outbox() ? POLLOUT : 0)},
        {.fd = watch.rests ? -1 : disable_file_fd(), .events = POLLIN},
        {.fd = volume_hush_fd(), .events = POLLIN}};
    poll(ready, 4, next_wait_ms(&watch));
    if (ready[1].revents) obey(&watch);
    if (ready[1].revents & POLLHUP) usleep(1000);
    if (ready[2].revents) disable_file_serve();
    if (ready[3].revents) take_stillness(&watch);
    if (ready[0].revents) reap(&watch);
    enforce_grace(&watch);
    look_for_listener(&watch);
    tell_disabled(&watch);
  }
}
