/*
 * One program that a user runs, with its pipes or its terminal. Each is the leader of a session and a process
 * group of its own, so that all that it starts can be ended with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "exec.h"

/* How long the processes of a closed session have, from SIGHUP to SIGKILL. */
#define HANG_UP_MS 2000
/* What a terminal's reader sees as the end of the input. */
#define END_OF_INPUT '\4'

/* The program's ends. With a terminal all three are the same. */
struct ends {
  int in, out, err;
};

static void close_one(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void close_ours(struct exec_session *session) {
  close_one(&session->in_fd);
  close_one(&session->out_fd);
  close_one(&session->err_fd);
}

static bool open_terminal(struct exec_session *session, struct ends *theirs, const struct exec_request *request) {
  char path[64];
  session->out_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (session->out_fd < 0 || unlockpt(session->out_fd) < 0) return false;
  if (ptsname_r(session->out_fd, path, sizeof path) != 0) return false;
  session->in_fd = fcntl(session->out_fd, F_DUPFD_CLOEXEC, 3);
  exec_session_resize(session, request->rows, request->columns);
  int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  *theirs = (struct ends){fd, fd, fd};
  return fd >= 0 && session->in_fd >= 0;
}

static bool open_pipes(struct exec_session *session, struct ends *theirs) {
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC) < 0) return false;
  session->in_fd = in[1];
  theirs->in = in[0];
  if (pipe2(out, O_CLOEXEC) < 0) return false;
  session->out_fd = out[0];
  theirs->out = out[1];
  if (pipe2(err, O_CLOEXEC) < 0) return false;
  session->err_fd = err[0];
  theirs->err = err[1];
  int ours[3] = {session->in_fd, session->out_fd, session->err_fd};
  for (int i = 0; i < 3; i++) fcntl(ours[i], F_SETFL, O_NONBLOCK);
  return true;
}

static void close_theirs(struct ends *theirs) {
  if (theirs->out != theirs->in) close_one(&theirs->out);
  if (theirs->err != theirs->in) close_one(&theirs->err);
  close_one(&theirs->in);
}

/* Runs in the new process. */
static _Noreturn void become_program(const struct config *config, const struct exec_request *request,
                                     const struct ends *theirs, int result_fd) {
  struct identity identity;
  char **env = exec_environment(config, request);
  const char *directory = config->working_directory[0] == '/' ? config->working_directory : "/";
  int reason = EACCES;
  setsid();
  if (request->tty) ioctl(theirs->in, TIOCSCTTY, 0);
  dup2(theirs->in, 0);
  dup2(theirs->out, 1);
  dup2(theirs->err, 2);
  process_reset_signals();
  if (chdir(directory) < 0) errno = 0;
  if (env != NULL && identity_resolve(config->user, &identity)) {
    for (int fd = 0; fd < 3; fd++) {
      if (fchown(fd, identity.uid, request->tty ? (gid_t)-1 : identity.gid) < 0) errno = 0;
    }
    process_take_identity(&identity);
    process_execute(request->argv, env);
    reason = errno;
  }
  if (write(result_fd, &reason, sizeof reason) < 0) errno = 0;
  _exit(127);
}

int exec_session_start(struct exec_session *session, const struct config *config, const struct exec_request *request,
                       char *reason, size_t reason_size) {
  struct ends theirs = {-1, -1, -1};
  int result[2] = {-1, -1}, error = 0;
  memset(session, 0, offsetof(struct exec_session, input));
  session->in_fd = session->out_fd = session->err_fd = -1;
  session->tty = request->tty;
  session->output_credit = EXEC_WINDOW_BYTES;
  bool made = (request->tty ? open_terminal(session, &theirs, request) : open_pipes(session, &theirs)) &&
              pipe2(result, O_CLOEXEC) == 0 && (session->pid = fork()) >= 0;
  if (made && session->pid == 0) become_program(config, request, &theirs, result[1]);
  if (!made) error = errno;
  close_theirs(&theirs);
  close_one(&result[1]);
  if (made && read(result[0], &error, sizeof error) == sizeof error) waitpid(session->pid, NULL, 0);
  close_one(&result[0]);
  session->used = error == 0;
  if (error == 0) return 0;
  close_ours(session);
  snprintf(reason, reason_size, "%.200s: %s", request->argv[0], strerror(error));
  if (!made) return 125;
  return error == ENOENT || error == ENOTDIR ? 127 : 126;
}

void exec_session_close(struct exec_session *session) {
  if (session->closing) return;
  session->closing = true;
  session->kill_at_ms = exec_now_ms() + HANG_UP_MS;
  kill(-session->pid, SIGHUP);
  close_ours(session);
}

void exec_session_signal(struct exec_session *session, int number) {
  if (session->exited || number < 1 || number > 31) return;
  pid_t front = session->tty && session->out_fd >= 0 ? tcgetpgrp(session->out_fd) : -1;
  kill(front > 1 ? -front : -session->pid, number);
}

void exec_session_resize(struct exec_session *session, uint16_t rows, uint16_t columns) {
  struct winsize size = {.ws_row = rows, .ws_col = columns};
  if (session->tty && session->out_fd >= 0) ioctl(session->out_fd, TIOCSWINSZ, &size);
}

static void drop_input(struct exec_session *session) {
  session->input_taken += (uint32_t)session->input_length;
  session->input_length = 0;
  close_one(&session->in_fd);
}

void exec_session_feed(struct exec_session *session) {
  if (session->in_fd < 0) {
    drop_input(session);
    return;
  }
  while (session->input_length > 0) {
    ssize_t written = write(session->in_fd, session->input, session->input_length);
    if (written < 0 && errno == EAGAIN) return;
    if (written <= 0) {
      drop_input(session);
      return;
    }
    session->input_length -= (size_t)written;
    session->input_taken += (uint32_t)written;
    memmove(session->input, session->input + written, session->input_length);
  }
  if (!session->input_ended) return;
  char end = END_OF_INPUT;
  if (session->tty && write(session->in_fd, &end, 1) < 0) errno = 0;
  close_one(&session->in_fd);
}

void exec_session_end_input(struct exec_session *session) {
  session->input_ended = true;
  exec_session_feed(session);
}

size_t exec_session_read(struct exec_session *session, int *fd, char *bytes, size_t size) {
  ssize_t got = read(*fd, bytes, size);
  if (got > 0) return (size_t)got;
  bool empty = got < 0 && (errno == EAGAIN || errno == EINTR);
  /* Once the program has ended, what others still hold open of its output is not waited for. */
  if (!empty || session->exited) close_one(fd);
  return 0;
}

bool exec_session_is_gone(struct exec_session *session) {
  if (!session->closing) return session->exited && session->out_fd < 0 && session->err_fd < 0;
  bool empty = kill(-session->pid, 0) < 0 && errno == ESRCH;
  if (session->exited && empty) return true;
  if (exec_now_ms() < session->kill_at_ms) return false;
  kill(-session->pid, SIGKILL);
  return session->exited;
}
