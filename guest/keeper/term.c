/*
 * The term of the host: the time by which every VM must have ended, unless the agent extends it. The agent
 * writes it into one file, in place, and the keeper holds that file open:
 *
 *   <deadline> <deadline> <boot id>\n    each deadline has 16 characters: milliseconds of CLOCK_BOOTTIME, or
 *                                        dashes where there is no term. src/host/agent/term-file.ts writes it.
 *
 * The deadline is there twice because a reader may meet the writer halfway. If both differ, it reads again.
 *
 * Two timers see to the end. The first wakes the keeper, which reads the file again and kills the VM shortly
 * before the deadline. The second is the kernel's: at the deadline it kills the keeper itself, also one that
 * is stopped or hangs, and the VM dies with its keeper. Both go on while the machine is suspended.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "keeper.h"

#define DEADLINE_DIGITS 16
#define PAIR_BYTES (2 * DEADLINE_DIGITS + 2)
#define NO_TERM "----------------"
/* How long before the deadline the VM is killed. The kernel may need a moment to end a large one. */
#define KILL_AHEAD_MS 500
/* With more time left than this, the file is read again at half time, so that the second timer is late. */
#define NEAR_END_MS 5000
/* A file that is still damaged after so many readings keeps the deadline that was known before. */
#define READINGS 20
#define REREAD_PAUSE_NS 1000000L

static int file = -1, timer = -1;
static timer_t last_resort;
static bool has_last_resort;
/* LLONG_MAX: there is no term. A keeper that could never read a deadline takes the term for over. */
static long long deadline_ms = LLONG_MAX;
static bool cut_off;

/* Returns -1 for a text that is damaged. */
static long long parse(const char *text) {
  long long value = 0;
  if (memcmp(text, text + DEADLINE_DIGITS + 1, DEADLINE_DIGITS) != 0) return -1;
  if (text[DEADLINE_DIGITS] != ' ' || text[PAIR_BYTES - 1] != ' ') return -1;
  if (memcmp(text, NO_TERM, DEADLINE_DIGITS) == 0) return LLONG_MAX;
  for (int i = 0; i < DEADLINE_DIGITS; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

static void read_deadline(void) {
  char text[PAIR_BYTES];
  struct timespec pause = {0, REREAD_PAUSE_NS};
  for (int readings = 0; readings < READINGS; readings++) {
    long long found = pread(file, text, sizeof text, 0) == sizeof text ? parse(text) : -1;
    if (found >= 0) {
      deadline_ms = found;
      return;
    }
    nanosleep(&pause, NULL);
  }
}

static struct timespec time_of(long long ms) {
  if (ms < 1) ms = 1; /* 0 would switch a timer off */
  return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

/* Without a term both timers are off. */
static void set_timers(void) {
  struct itimerspec look = {0}, end = {0};
  if (deadline_ms != LLONG_MAX) {
    long long left_ms = deadline_ms - boot_ms();
    look.it_value = time_of(left_ms > NEAR_END_MS ? deadline_ms - left_ms / 2 : deadline_ms - KILL_AHEAD_MS);
    end.it_value = time_of(deadline_ms);
  }
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &look, NULL);
  if (has_last_resort) timer_settime(last_resort, TIMER_ABSTIME, &end, NULL);
}

bool term_is_over(void) { return deadline_ms != LLONG_MAX && boot_ms() >= deadline_ms - KILL_AHEAD_MS; }

bool term_open(const char *path) {
  struct sigevent kill_this = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  if (path == NULL) return true;
  file = open(path, O_RDONLY | O_CLOEXEC);
  timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  has_last_resort = timer_create(CLOCK_BOOTTIME, &kill_this, &last_resort) == 0;
  if (file < 0 || timer < 0) return false;
  deadline_ms = 0;
  read_deadline();
  /* If the term is over, the second timer would kill this process before it could say why. */
  if (!term_is_over()) set_timers();
  return true;
}

int term_fd(void) { return cut_off ? -1 : timer; }

void term_take(void) {
  uint64_t rung;
  if (file < 0 || cut_off) return;
  /* The timer is readable until its count is taken. */
  while (read(timer, &rung, sizeof rung) > 0) continue;
  read_deadline();
  set_timers();
  if (!term_is_over()) return;
  cut_off = true;
  event("kill host-cut-off");
  suspend_cancel("its host is cut off");
  machine_kill();
}

void term_answer(void) {
  term_take();
  if (file >= 0) events_tell("term %lld", deadline_ms == LLONG_MAX ? -1 : deadline_ms);
}
