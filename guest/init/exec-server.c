/*
 * The exec server: reads frames from the port and carries output to it. It trusts the host's frames to be
 * sound; on one that is not, it ends its sessions and waits for the host to begin anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec.h"

/* The beginning of every `H` of a host. After bytes that were cut off, the server looks for it. */
static const char greeting[16] = {'H', 0, 0, 0, 16, 0, 0, 0, 'r', 'o', 'o', 's', 't', '-', 'e', 'x'};
#define GREETING_BYTES 24
/* A frame is answered only if this much room is left, and output is read only if twice as much is left. */
#define ANSWER_ROOM (EXEC_HEADER_BYTES + EXEC_MAX_REASON_BYTES + 64)
#define PORT_CHUNK_BYTES 4096
/* How often the server looks for the host while it ends the sessions that the host has left. */
#define AWAY_POLL_MS 20
#define CLOSING_POLL_MS 50
/* The host is told of input that was taken when it is this part of the window, or when none is left. */
#define TAKEN_PART 4

static int port_fd, signal_fd;
static const struct config *application;
static struct exec_session sessions[EXEC_MAX_SESSIONS];
static char inbox[EXEC_HEADER_BYTES + EXEC_MAX_PAYLOAD_BYTES];
static size_t inbox_length;
static char outbox[64 << 10];
static size_t outbox_length;
/* Whether the frames of the present connection have begun. */
static bool greeted;

static size_t room(void) { return sizeof outbox - outbox_length; }

static void drain_outbox(void) {
  size_t sent = 0;
  while (sent < outbox_length) {
    size_t rest = outbox_length - sent;
    ssize_t written = write(port_fd, outbox + sent, rest < PORT_CHUNK_BYTES ? rest : PORT_CHUNK_BYTES);
    if (written <= 0) break;
    sent += (size_t)written;
  }
  outbox_length -= sent;
  memmove(outbox, outbox + sent, outbox_length);
}

static void put_length(char *to, uint32_t length) {
  for (int i = 0; i < 4; i++) to[i] = (char)(length >> (8 * i) & 255);
}

static uint32_t get_length(const char *from) {
  const unsigned char *bytes = (const unsigned char *)from;
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Where the payload of the next frame is written. The caller has seen to the room. */
static char *next_payload(void) { return outbox + outbox_length + EXEC_HEADER_BYTES; }

static void finish_frame(char type, size_t session, size_t length) {
  char *header = outbox + outbox_length;
  header[0] = type;
  header[1] = (char)session;
  header[2] = header[3] = 0;
  put_length(header + 4, (uint32_t)length);
  outbox_length += EXEC_HEADER_BYTES + length;
}

static void tell(char type, size_t session, const char *payload, size_t length) {
  memcpy(next_payload(), payload, length);
  finish_frame(type, session, length);
}

static void begin_anew(void) {
  for (size_t i = 0; i < EXEC_MAX_SESSIONS; i++) {
    if (sessions[i].used) exec_doom(&sessions[i]);
  }
  greeted = false;
  outbox_length = 0;
}

static void greet(const char *payload) {
  begin_anew();
  greeted = true;
  memcpy(next_payload(), payload, 16);
  next_payload()[16] = EXEC_VERSION;
  finish_frame('H', 0, 17);
}

/* The reason is in the payload already, after one byte for the code. */
static void tell_start(size_t number, int code) {
  char *answer = next_payload();
  answer[0] = (char)code;
  if (code == 0) finish_frame('S', number, 0);
  else finish_frame('F', number, 1 + strlen(answer + 1));
}

static void open_session(size_t number, char *records, size_t length) {
  struct exec_session *session = &sessions[number];
  struct exec_request request = {0};
  char *answer = next_payload();
  int code = 125;
  strcpy(answer + 1, "the request is not sound");
  if (session->used) strcpy(answer + 1, "the last session of this number has not ended yet");
  else if (exec_request_parse(&request, records, length)) {
    code = request.kind == EXEC_CONNECTION
               ? exec_connection_start(session, application, request.port, answer + 1, EXEC_MAX_REASON_BYTES)
               : exec_program_start(session, application, &request, answer + 1, EXEC_MAX_REASON_BYTES);
  }
  /* A connection takes its time, see `tend_connecting`. */
  if (code != 0 || !session->connecting) tell_start(number, code);
  free(request.argv);
}

/* Returns false if the host may not send this frame now. */
static bool take_session_frame(char type, size_t number, char *payload, size_t length) {
  struct exec_session *session = &sessions[number];
  if (type == 'O') {
    open_session(number, payload, length);
    return true;
  }
  /* The host may send these before it has read that the session is over. */
  if (!session->used || session->closing) return true;
  if (type == 'I') {
    if (length > session->window - session->input_length || session->input_ended) return false;
    memcpy(session->input + session->input_length, payload, length);
    session->input_length += length;
    exec_session_feed(session);
  } else if (type == 'E') {
    exec_session_end_input(session);
  } else if (type == 'C' && length == 4) {
    uint32_t taken = get_length(payload);
    if (taken > session->window - session->output_credit) return false;
    session->output_credit += taken;
  } else if (type == 'W' && length == 4) {
    uint32_t size = get_length(payload);
    exec_session_resize(session, (uint16_t)size, (uint16_t)(size >> 16));
  } else if (type == 'K' && length == 1) {
    exec_session_signal(session, payload[0]);
  } else if (type == 'X') {
    exec_session_close(session);
  } else {
    return false;
  }
  return true;
}

static void drop_inbox(size_t length) {
  inbox_length -= length;
  memmove(inbox, inbox + length, inbox_length);
}

/* Looks for the greeting. Returns true once the inbox begins with a whole one. */
static bool find_greeting(void) {
  size_t at = 0;
  while (at < inbox_length) {
    size_t rest = inbox_length - at;
    if (memcmp(inbox + at, greeting, rest < sizeof greeting ? rest : sizeof greeting) == 0) break;
    at++;
  }
  drop_inbox(at);
  return inbox_length >= GREETING_BYTES;
}

/* Takes one frame. Returns false if there is no whole one, or no room for its answer. */
static bool take_frame(void) {
  if (room() < ANSWER_ROOM) return false;
  if (!greeted && !find_greeting()) return false;
  if (inbox_length < EXEC_HEADER_BYTES) return false;
  size_t number = (unsigned char)inbox[1];
  uint32_t length = get_length(inbox + 4);
  bool sound = number < EXEC_MAX_SESSIONS && length <= EXEC_MAX_PAYLOAD_BYTES;
  if (sound && inbox_length < EXEC_HEADER_BYTES + length) return false;
  char *payload = inbox + EXEC_HEADER_BYTES;
  if (sound && inbox[0] == 'H' && length == 16) greet(payload);
  else if (!sound || !take_session_frame(inbox[0], number, payload, length)) {
    say("the host sent a frame that is not sound");
    begin_anew();
    length = 0;
  }
  drop_inbox(EXEC_HEADER_BYTES + length);
  return true;
}

static void take_frames(void) {
  ssize_t got;
  do {
    while (take_frame()) continue;
    if (inbox_length == sizeof inbox) return;
    got = read(port_fd, inbox + inbox_length, sizeof inbox - inbox_length);
    if (got > 0) inbox_length += (size_t)got;
  } while (got > 0);
}

static bool has_output_room(const struct exec_session *session) {
  return session->used && session->output_credit > 0 && room() >= 2 * ANSWER_ROOM + PORT_CHUNK_BYTES;
}

static void carry_output(size_t number, int *fd, char type) {
  struct exec_session *session = &sessions[number];
  while (*fd >= 0 && has_output_room(session)) {
    size_t most = session->output_credit < EXEC_MAX_OUTPUT_BYTES ? session->output_credit : EXEC_MAX_OUTPUT_BYTES;
    size_t got = exec_session_read(session, fd, next_payload(), most);
    if (got == 0) return;
    session->output_credit -= (uint32_t)got;
    finish_frame(type, number, got);
  }
}

static void tell_input_taken(size_t number) {
  struct exec_session *session = &sessions[number];
  bool is_much = session->input_taken >= session->window / TAKEN_PART;
  bool due = is_much || (session->input_taken > 0 && session->input_length == 0);
  if (!due || session->closing || room() < 2 * ANSWER_ROOM) return;
  put_length(next_payload(), session->input_taken);
  finish_frame('C', number, 4);
  session->input_taken = 0;
}

static void tend_connecting(size_t number) {
  struct exec_session *session = &sessions[number];
  char *reason = next_payload() + 1;
  int code = 0;
  if (!exec_connection_is_decided(session, application, &code, reason, EXEC_MAX_REASON_BYTES)) return;
  tell_start(number, code);
  if (code != 0) exec_session_forget(session);
  else exec_session_feed(session); /* input and its end may have come before */
}

/* A program's output ends with it. A connection's may end long before, while the other direction goes on. */
static void tell_output_end(size_t number) {
  struct exec_session *session = &sessions[number];
  bool due = session->kind == EXEC_CONNECTION && session->out_fd < 0 && !session->closing;
  if (!due || session->output_end_told || room() < 2 * ANSWER_ROOM) return;
  session->output_end_told = true;
  finish_frame('D', number, 0);
}

static void tend_session(size_t number) {
  struct exec_session *session = &sessions[number];
  if (session->used && session->connecting && !session->closing && room() >= ANSWER_ROOM) tend_connecting(number);
  if (!session->used || (session->connecting && !session->closing)) return;
  if (session->input_length > 0) exec_session_feed(session);
  carry_output(number, &session->out_fd, 'O');
  carry_output(number, &session->err_fd, 'R');
  tell_input_taken(number);
  tell_output_end(number);
  if (room() < 2 * ANSWER_ROOM || !exec_session_is_gone(session)) return;
  exec_session_forget(session);
  bool signalled = WIFSIGNALED(session->status);
  char end[2] = {signalled, (char)(signalled ? WTERMSIG(session->status) : WEXITSTATUS(session->status))};
  tell('X', number, end, sizeof end);
}

static void reap(void) {
  struct signalfd_siginfo told;
  int status;
  while (read(signal_fd, &told, sizeof told) > 0) continue;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (size_t i = 0; i < EXEC_MAX_SESSIONS; i++) {
      if (!sessions[i].used || sessions[i].pid != ended) continue;
      sessions[i].exited = true;
      sessions[i].status = status;
    }
  }
}

/* Returns the longest time until the server must look again; -1: there is none. */
static int watch_sessions(struct pollfd *ready) {
  int wait_ms = -1;
  for (size_t i = 0; i < EXEC_MAX_SESSIONS; i++) {
    struct exec_session *session = &sessions[i];
    bool connects = session->used && session->connecting && !session->closing;
    bool reads = has_output_room(session) && !connects;
    bool feeds = connects || (session->used && session->input_length > 0);
    /* A descriptor without a wish is left out: its hang-up would keep poll awake. */
    ready[3 * i] = (struct pollfd){.fd = feeds ? session->in_fd : -1, .events = POLLOUT};
    ready[3 * i + 1] = (struct pollfd){.fd = reads ? session->out_fd : -1, .events = POLLIN};
    ready[3 * i + 2] = (struct pollfd){.fd = reads ? session->err_fd : -1, .events = POLLIN};
    if (session->used && (session->closing || connects)) wait_ms = CLOSING_POLL_MS;
  }
  return wait_ms;
}

static bool host_is_away(void) {
  struct pollfd ready = {.fd = port_fd};
  return poll(&ready, 1, 0) > 0 && (ready.revents & POLLHUP) != 0;
}

static void prepare(int port, const struct config *config) {
  sigset_t children;
  port_fd = port;
  application = config;
  prctl(PR_SET_NAME, "roost-exec");
  /* init comes before all others, but what users run does not. */
  setpriority(PRIO_PROCESS, 0, 0);
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  signal_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signal_fd < 0) _exit(1);
}

void exec_serve(int port, const struct config *config) {
  prepare(port, config);
  for (;;) {
    struct pollfd ready[2 + 3 * EXEC_MAX_SESSIONS];
    bool away = host_is_away();
    if (away) {
      begin_anew();
      inbox_length = 0;
    }
    bool left = exec_doomed_are_left();
    if (away && !left) _exit(0);
    int wait_ms = watch_sessions(ready + 2);
    if (left) wait_ms = CLOSING_POLL_MS;
    ready[0] = (struct pollfd){.fd = signal_fd, .events = POLLIN};
    ready[1] = (struct pollfd){.fd = away ? -1 : port_fd, .events = POLLIN | (outbox_length > 0 ? POLLOUT : 0)};
    /* A frame waits for room in the outbox; then only the port's readiness for more matters. */
    if (room() < ANSWER_ROOM) ready[1].events = POLLOUT;
    poll(ready, 2 + 3 * EXEC_MAX_SESSIONS, away ? AWAY_POLL_MS : wait_ms);
    reap();
    if (!away) take_frames();
    for (size_t i = 0; i < EXEC_MAX_SESSIONS; i++) tend_session(i);
    drain_outbox();
  }
}
