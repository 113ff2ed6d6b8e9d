/*
 * The start of a program that a user runs, with its pipes or its terminal, and of a copy, which runs code
 * of init in a process like that of a program. Each is the leader of a session and a process group of its
 * own, so that all that it starts can be ended with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "archive.h"
#include "exec.h"

/* The oom_score_adj of a process that the kernel kills before all others. */
#define FIRST_TO_BE_KILLED "1000"

/* The program's ends. With a terminal all three are the same. */
struct ends {
  int in, out, err;
};

static void close_one(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
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

/*
 * Without a volume, files are in the guest's memory. If a copy takes so much of it that none is left, the
 * copy has to end, and not the application.
 */
static void stand_first(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, FIRST_TO_BE_KILLED, strlen(FIRST_TO_BE_KILLED)) < 0) errno = 0;
  close(fd);
}

/*
 * Runs in the new process, as the application's user. Without a program of its own it has to close by
 * itself what the exec server has open: the port, and the pipes of other sessions, which would never end
 * otherwise.
 */
static _Noreturn void copy_files(const struct exec_request *request) {
  syscall(SYS_close_range, 3u, ~0u, 0u);
  if (request->kind == EXEC_PACK) _exit(archive_pack(request->path, request->follow));
  struct archive_target target = {request->path, request->extract, request->owners};
  _exit(archive_unpack(&target));
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
    /* Only root may write there once the process has the user of the application. */
    if (request->kind != EXEC_PROGRAM) stand_first();
    process_take_identity(&identity);
    if (request->kind != EXEC_PROGRAM) copy_files(request);
    process_execute(request->argv, env);
    reason = errno;
  }
  if (write(result_fd, &reason, sizeof reason) < 0) errno = 0;
  _exit(127);
}

int exec_program_start(struct exec_session *session, const struct config *config, const struct exec_request *request,
                       char *reason, size_t reason_size) {
  struct ends theirs = {-1, -1, -1};
  int result[2] = {-1, -1}, error = 0;
  bool made = exec_session_prepare(session, request->kind, EXEC_WINDOW_BYTES);
  session->tty = request->tty;
  made = made && (request->tty ? open_terminal(session, &theirs, request) : open_pipes(session, &theirs)) &&
         pipe2(result, O_CLOEXEC) == 0 && (session->pid = fork()) >= 0;
  if (made && session->pid == 0) become_program(config, request, &theirs, result[1]);
  if (!made) error = errno;
  close_theirs(&theirs);
  close_one(&result[1]);
  if (made && read(result[0], &error, sizeof error) == sizeof error) waitpid(session->pid, NULL, 0);
  close_one(&result[0]);
  session->used = error == 0;
  if (error == 0) return 0;
  exec_session_forget(session);
  const char *what = request->kind == EXEC_PROGRAM ? request->argv[0] : "the copy";
  snprintf(reason, reason_size, "%.200s: %s", what, strerror(error));
  if (!made) return 125;
  return error == ENOENT || error == ENOTDIR ? 127 : 126;
}
