/*
 * The bytes of one session, its signals and its end. They go through pipes, a terminal or a socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "exec.h"

/* How long the processes of a closed session have, from SIGHUP to SIGKILL. */
#define HANG_UP_MS 2000
/* What a terminal's reader sees as the end of the input. */
#define END_OF_INPUT '\4'

static void close_one(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void close_ours(struct exec_session *session) {
  close_one(&session->in_fd);
  close_one(&session->out_fd);
  close_one(&session->err_fd);
}

bool exec_session_prepare(struct exec_session *session, enum exec_kind kind, uint32_t window) {
  memset(session, 0, sizeof *session);
  session->in_fd = session->out_fd = session->err_fd = -1;
  session->kind = kind;
  session->window = session->output_credit = window;
  session->input = malloc(window);
  return session->input != NULL;
}

void exec_session_forget(struct exec_session *session) {
  close_ours(session);
  free(session->input);
  session->input = NULL;
  session->used = false;
}

void exec_session_close(struct exec_session *session) {
  if (session->closing) return;
  session->closing = true;
  if (session->kind == EXEC_CONNECTION) {
    close_ours(session);
    return;
  }
  session->kill_at_ms = exec_now_ms() + HANG_UP_MS;
  kill(-session->pid, SIGHUP);
  close_ours(session);
}

void exec_session_signal(struct exec_session *session, int number) {
  if (session->kind == EXEC_CONNECTION || session->exited || number < 1 || number > 31) return;
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
  if (session->connecting) return;
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
  /* The same socket is still open for the output. */
  if (session->kind == EXEC_CONNECTION) shutdown(session->in_fd, SHUT_WR);
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
  /* A connection that was broken off takes no input either. */
  if (session->kind == EXEC_CONNECTION && got < 0 && !empty) close_one(&session->in_fd);
  /* Once the program has ended, what others still hold open of its output is not waited for. */
  if (!empty || session->exited) close_one(fd);
  return 0;
}

bool exec_session_is_gone(struct exec_session *session) {
  if (session->kind == EXEC_CONNECTION) return session->in_fd < 0 && session->out_fd < 0;
  if (!session->closing) return session->exited && session->out_fd < 0 && session->err_fd < 0;
  bool empty = kill(-session->pid, 0) < 0 && errno == ESRCH;
  if (session->exited && empty) return true;
  if (exec_now_ms() < session->kill_at_ms) return false;
  kill(-session->pid, SIGKILL);
  return session->exited;
}
