/*
 * The guest's control channel as seen from the host. The guest writes everything that arrives here, so the
 * input is bounded and parsed, and each statement counts once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "keeper.h"

/* How long the guest may take, after the grace time, to kill the application and turn itself off. */
#define SHUTDOWN_MARGIN_MS 5000
/*
 * How long the guest may take, after the margin above or after the report of the exit, to write the volume's
 * data back. src/host/vmm/vmm.ts has the same number.
 */
#define WRITE_BACK_MS 15000
/* The most time from the report of the exit until the machine is off. Usually it takes 20 ms. */
#define POWER_OFF_MS 5000
/* How long the keeper waits for the first line of a guest that goes on from its snapshot. */
#define AWAKE_LIMIT_MS 5000
/*
 * The least time between two changes of `disabled` that the keeper passes to agents. guest/init/supervise.c
 * reports changes no more often than that.
 */
#define TELL_EVERY_MS 100
/*
 * The random bytes that the keeper sends: twice as many as the guest's pool needs to count as seeded.
 * src/host/vmm/guest-config.ts gives a new guest as many.
 */
#define ENTROPY_BYTES 64

static int fd = -1;
static enum guest_kind kind;
static struct lines inbox;
/* The guest's last report on standby, and the last report that agents got; -1: none yet. */
static int disabled = -1, told_disabled = -1;
static long long tell_disabled_at_ms;
/* Whether an agent waits for the answer to `sleep?`. */
static bool asked_to_sleep;
static long long write_back_ms;
static bool ready, entered, unusable, listening, exited, said_bye;
/*
 * The time until which the keeper waits for the first line of a guest that goes on from its snapshot; -1: it
 * does not wait.
 */
static long long awake_by_ms = -1;
static long long expected_output = -1, received_output, received_words;
static long long kill_at_ms = -1, grace_until_ms = -1;

void guest_open(int control_fd, const struct options *options) {
  fd = control_fd;
  outbox_open(control_fd);
  kind = options->kind;
  write_back_ms = options->volume_fd >= 0 ? WRITE_BACK_MS : 0;
  if (!options->from_snapshot) return;
  ready = entered = true;
  listening = options->listening > 0;
  received_output = options->output;
  disabled = told_disabled = (int)options->disabled;
}

bool guest_is_awake(void) { return awake_by_ms < 0; }

static void wake_up(void) {
  awake_by_ms = -1;
  machine_tell_running();
}

int guest_wake_wait_ms(void) {
  if (guest_is_awake()) return -1;
  long long left_ms = awake_by_ms - now_ms();
  return left_ms > 0 ? (int)left_ms : 0;
}

void guest_wake_tick(void) {
  if (guest_wake_wait_ms() == 0) wake_up();
}

int guest_disabled(void) { return disabled; }

int guest_tell_wait_ms(void) {
  if (disabled == told_disabled) return -1;
  long long left_ms = tell_disabled_at_ms - now_ms();
  return left_ms > 0 ? (int)left_ms : 0;
}

/*
 * Sends the first change to agents at once. If several changes follow soon after, it sends only the last of
 * them.
 */
void guest_tell_tick(void) {
  if (guest_tell_wait_ms() != 0) return;
  told_disabled = disabled;
  tell_disabled_at_ms = now_ms() + TELL_EVERY_MS;
  events_tell("disabled %d", disabled);
}

long long guest_words(void) { return received_words; }

bool guest_may_suspend(void) { return (entered || kind == GUEST_KERNEL) && !exited && grace_until_ms < 0; }

int guest_describe(char *text, size_t size) {
  return snprintf(text, size, "output %lld listening %d disabled %d\n", received_output, listening, disabled);
}

static int describe_time(char *line, size_t size) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return snprintf(line, size, "time %lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
}

static void send_time(void) {
  char line[64];
  describe_time(line, sizeof line);
  outbox_send(line);
}

void guest_ask_to_sleep(void) {
  if (guest_may_suspend() && kind == GUEST_CONTAINER) {
    asked_to_sleep = true;
    outbox_send("sleep?\n");
  } else {
    events_tell("sleep %s", guest_may_suspend() ? "ready" : "disabled");
  }
}

void guest_awake(void) {
  if (kind == GUEST_CONTAINER && entered) outbox_send("awake\n");
}

/*
 * Sends everything in one piece, which the guest takes in one turn, so its first answer comes after all of
 * it.
 */
void guest_greet(void) {
  if (kind == GUEST_KERNEL) return;
  unsigned char bytes[ENTROPY_BYTES];
  char text[2 * ENTROPY_BYTES + 96] = "";
  size_t length = (size_t)describe_time(text, sizeof text);
  if (getrandom(bytes, sizeof bytes, 0) == sizeof bytes) {
    length += (size_t)sprintf(text + length, "entropy ");
    for (size_t i = 0; i < sizeof bytes; i++) length += (size_t)sprintf(text + length, "%02x", bytes[i]);
    text[length++] = '\n';
  }
  strcpy(text + length, "awake\n");
  outbox_send(text);
  awake_by_ms = now_ms() + AWAKE_LIMIT_MS;
  explicit_bzero(bytes, sizeof bytes);
  explicit_bzero(text, sizeof text);
}

/* Lets the guest go off once everything it printed has arrived here. */
static void maybe_say_bye(void) {
  if (!exited || said_bye || received_output < expected_output) return;
  said_bye = true;
  outbox_send("bye\n");
}

void guest_log_received(size_t bytes) {
  received_output += (long long)bytes;
  maybe_say_bye();
}

static void send_shutdown(void) {
  char line[64];
  long long left_ms = grace_until_ms - now_ms();
  snprintf(line, sizeof line, "shutdown %lld\n", left_ms > 0 ? left_ms : 0);
  outbox_send(line);
}

void guest_shutdown(long long grace_ms) {
  long long until_ms = now_ms() + grace_ms;
  if (grace_until_ms >= 0 && until_ms >= grace_until_ms) return;
  event("shutdown-asked %lld", grace_ms);
  grace_until_ms = until_ms;
  if (kind == GUEST_KERNEL) {
    kill_at_ms = until_ms;
    machine_power_down();
    return;
  }
  kill_at_ms = until_ms + SHUTDOWN_MARGIN_MS + write_back_ms;
  /*
   * If the application has not started, no process could receive the signal. Then the guest gets the order
   * once it has started.
   */
  if (entered) send_shutdown();
}

long long guest_deadline_ms(void) { return kill_at_ms; }

static void take_exit(const char *line) {
  char how[8];
  int value, out_of_memory, killed;
  long long output;
  if (sscanf(line, "exit %7s %d oom %d killed %d output %lld", how, &value, &out_of_memory, &killed, &output) != 5) return;
  if ((strcmp(how, "code") != 0 && strcmp(how, "signal") != 0) || value < 0 || value > 255) return;
  wake_up();
  exited = true;
  expected_output = output;
  event("exit %s %d oom %d killed %d", how, value, out_of_memory != 0, killed != 0);
  long long off_by_ms = now_ms() + POWER_OFF_MS + write_back_ms;
  if (kill_at_ms < 0 || kill_at_ms > off_by_ms) kill_at_ms = off_by_ms;
  meter_lift_output();
  maybe_say_bye();
}

static void take_disabled(int value) {
  disabled = value;
  guest_tell_tick();
}

/* One answer goes to all agents that asked. An answer without a question is ignored. */
static void take_sleep_answer(const char *line) {
  if (!asked_to_sleep) return;
  asked_to_sleep = false;
  events_tell("%s", line);
}

static void take_unusable(const char *line) {
  char why[16];
  int reason;
  if (entered || unusable || sscanf(line, "volume %15[a-z-] %d", why, &reason) != 2) return;
  unusable = true;
  event("volume-unusable %s %d", why, reason);
  kill_at_ms = now_ms() + POWER_OFF_MS;
}

static void take_line(const char *line, void *context) {
  int pid, value;
  (void)context;
  if (strcmp(line, "time?") == 0) {
    send_time();
  } else if (strcmp(line, "ready") == 0 && !ready) {
    ready = true;
    event("ready");
  } else if (sscanf(line, "app %d", &pid) == 1 && !entered) {
    entered = true;
    event("app %d", pid);
    if (grace_until_ms >= 0) send_shutdown();
  } else if (strcmp(line, "awake") == 0) {
    wake_up();
  } else if (strcmp(line, "listen") == 0 && !listening) {
    listening = true;
    event("listen");
  } else if (sscanf(line, "disabled %d", &value) == 1 && (value == 0 || value == 1)) {
    take_disabled(value);
  } else if (strcmp(line, "sleep ready") == 0 || strcmp(line, "sleep disabled") == 0) {
    take_sleep_answer(line);
  } else if (strncmp(line, "volume ", 7) == 0) {
    take_unusable(line);
  } else if (strncmp(line, "exit ", 5) == 0 && !exited) {
    take_exit(line);
  }
}

bool guest_read(void) {
  enum lines_end end = lines_read(fd, &inbox, take_line, NULL);
  meter_count_words(inbox.taken);
  if (end == LINES_READ) received_words += (long long)inbox.taken;
  return end != LINES_CLOSED;
}
