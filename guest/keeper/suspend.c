/*
 * Turns a running VM into a snapshot, or lets it run on if anything fails:
 *
 *   (runs) --asked--> DRAINING --quiet--> MIRRORING --> WRITING --completed--> (snapshot durable) --> suspended, VM killed
 *                        \------ failed, cancelled, late -----> RETURNING --> (runs)
 *
 * The agent has made `../snapshot.new`. The rename to `../snapshot` is the moment in which the VM becomes a
 * snapshot. Before the rename the VM may run on, after it never. The VM is stopped from DRAINING to WRITING,
 * and dies with this process. It is MIRRORING until what is left of its volume has gone to the agent that
 * follows it (mirror.c), and not at all if none does.
 *
 * The reason for DRAINING: output that the VMM still holds back would be in the snapshot, but the VMM would
 * also send it as soon as there is room. A round is a question to the VMM and its answer. The VM's state is
 * written only after more than QUIET_ROUNDS rounds in a row in which nothing came from the VM.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keeper.h"

/*
 * The longest time for a snapshot, for a large guest on a slow disk. A quick disk needs some 50 ms for 128
 * MiB.
 */
#define SUSPEND_LIMIT_MS 60000
#define QUIET_ROUNDS 2
/* The wait between two calls that make the kernel write to the disk what the snapshot has so far. */
#define WRITE_BACK_MS 10

static enum { RUNNING, DRAINING, MIRRORING, WRITING, RETURNING, SUSPENDED } state;
static int memory_fd = -1;
static int quiet_rounds;
static bool migrating, settle_asked;
/* The number of bytes that had come from the guest at the end of the last round. */
static long long heard_bytes;
static long long late_at_ms;
static char reason[64];

/* Whether the VM is stopped and may still go on. */
static bool is_open(void) { return state == DRAINING || state == MIRRORING || state == WRITING; }
bool suspend_under_way(void) { return state != RUNNING; }
bool suspend_is_done(void) { return state == SUSPENDED; }

static long long received_bytes(void) { return output_received() + guest_words(); }

static void close_memory(void) {
  if (memory_fd >= 0) close(memory_fd);
  memory_fd = -1;
}

static void go_back(const char *why) {
  if (!is_open()) return;
  snprintf(reason, sizeof reason, "%s", why);
  state = RETURNING;
  close_memory();
  machine_command(migrating ? "{\"execute\":\"migrate_cancel\",\"id\":\"back\"}\n"
                            : "{\"execute\":\"query-status\",\"id\":\"back\"}\n");
}

void suspend_cancel(const char *why) { go_back(why); }

static const char *find_obstacle(void) {
  if (state != RUNNING) return "it is under way";
  if (!machine_runs()) return "the VM does not run";
  return guest_may_suspend() ? NULL : "the guest is ending";
}

void suspend_begin(void) {
  const char *obstacle = find_obstacle();
  if (obstacle == NULL) {
    memory_fd = files_open_memory();
    if (memory_fd < 0) obstacle = strerror(errno);
  }
  if (obstacle != NULL) {
    events_tell("suspend failed %s", obstacle);
    return;
  }
  state = DRAINING;
  quiet_rounds = 0;
  migrating = false;
  heard_bytes = received_bytes();
  late_at_ms = now_ms() + SUSPEND_LIMIT_MS;
  machine_command("{\"execute\":\"stop\"}\n{\"execute\":\"query-status\",\"id\":\"drained\"}\n");
}

/*
 * Answers an agent that asks whether the suspension of an earlier agent is over. The earlier agent began it
 * and died; such a suspension soon fails or becomes the snapshot. Until the keeper has told `settled`,
 * nobody may touch the snapshot's files.
 */
void suspend_settle(void) {
  if (state == RUNNING) events_tell("settled");
  else settle_asked = true;
}

/*
 * A VM that came from a template has its memory to itself, so the snapshot must contain it too:
 * x-ignore-shared is off for the snapshot.
 */
static void start_writing(void) {
  state = WRITING;
  machine_command("{\"execute\":\"migrate-set-capabilities\",\"arguments\":{\"capabilities\":"
                  "[{\"capability\":\"x-ignore-shared\",\"state\":false}]}}\n"
                  "{\"execute\":\"migrate-set-parameters\",\"arguments\":{\"max-bandwidth\":17179869184}}\n");
  machine_command_with_fd("{\"execute\":\"getfd\",\"arguments\":{\"fdname\":\"snapshot\"},\"id\":\"write\"}\n", memory_fd);
  machine_command("{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"fd:snapshot\"},\"id\":\"write\"}\n");
  migrating = true;
}

static void take_drained(void) {
  output_collect();
  quiet_rounds = received_bytes() == heard_bytes ? quiet_rounds + 1 : 0;
  heard_bytes = received_bytes();
  if (!guest_may_suspend()) go_back("the guest is ending");
  else if (quiet_rounds > QUIET_ROUNDS) {
    mirror_finish();
    state = MIRRORING;
  }
  else machine_command("{\"execute\":\"query-status\",\"id\":\"drained\"}\n");
}

static bool publish(void) {
  char text[128];
  int length = guest_describe(text, sizeof text);
  return fsync(memory_fd) == 0 && files_publish(text, (size_t)length);
}

static void take_completed(void) {
  output_collect();
  if (!guest_may_suspend()) go_back("the guest is ending");
  else if (!publish()) go_back(strerror(errno));
  else {
    state = SUSPENDED;
    close_memory();
    event("suspended");
    machine_kill();
  }
}

/* Called when the VMM has reported that the VM stands still. Only then can the VM be told to run on. */
static void take_rest(void) {
  files_drop_memory();
  if (machine_ended()) return;
  machine_command("{\"execute\":\"cont\"}\n");
}

void suspend_resumed(void) {
  if (state != RETURNING) return;
  state = RUNNING;
  guest_awake();
  events_tell("suspend failed %s", reason);
  if (settle_asked) events_tell("settled");
  settle_asked = false;
}

static bool has(const char *line, const char *text) { return strstr(line, text) != NULL; }

static void take_back(const char *line) {
  bool stalled = has(line, "\"status\": \"io-error\"");
  bool at_rest = stalled || has(line, "\"status\": \"paused\"") || has(line, "\"status\": \"postmigrate\"");
  if (at_rest) take_rest();
  else machine_command("{\"execute\":\"query-status\",\"id\":\"back\"}\n");
}

void suspend_take(const char *line) {
  if (state == DRAINING && has(line, "\"id\": \"drained\"")) take_drained();
  else if (state == WRITING && has(line, "\"id\": \"write\"") && has(line, "\"error\": {")) go_back("the VMM refused");
  else if (state == WRITING && has(line, "\"event\": \"MIGRATION\"") && has(line, "\"status\": \"completed\"")) take_completed();
  else if (state == WRITING && has(line, "\"event\": \"MIGRATION\"") && has(line, "\"status\": \"failed\"")) go_back("the snapshot could not be written");
  else if (state == RETURNING && has(line, "\"id\": \"back\"")) take_back(line);
}

int suspend_wait_ms(void) { return state == WRITING ? WRITE_BACK_MS : state == RUNNING ? -1 : 1000; }

void suspend_tick(void) {
  if (!is_open()) return;
  if (now_ms() > late_at_ms) go_back("it took too long");
  else if (state == MIRRORING && !mirror_under_way()) start_writing();
  else if (state == WRITING) sync_file_range(memory_fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}
