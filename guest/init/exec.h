/*
 * Programs that users run in a guest beside the application. The host opens the virtio-serial port `exec`
 * for as long as it has sessions. For that time init has a child, the exec server, which runs the programs;
 * so init itself reads nothing from this port, and a guest without sessions has no such process.
 *
 * Both directions carry frames: a type, the number of a session, two bytes 0, the length of the payload (32
 * bits, the lowest byte first), the payload. src/host/exec/exec-frames.ts has the same numbers.
 *
 *   host to guest                                  guest to host
 *   H  begin anew; 8 fixed bytes and 8 random ones H  the same 16 bytes, the version: all later bytes are new
 *   O  open a session; records `key=value` NUL     S  the program has been started
 *   I  standard input                              O  standard output, or the terminal
 *   E  end of standard input                       R  standard error
 *   C  so many bytes of output were taken (32 bit) C  so many bytes of input were taken (32 bit)
 *   W  rows and columns of the terminal (16 bit)   F  the program can not be run: exit code, reason
 *   K  send this signal                            X  how it ended (0 code, 1 signal) and the number; the session is over
 *   X  close the session; answered by X
 *
 * Each side sends at most EXEC_WINDOW_BYTES of a session's bytes that the other side has not taken. So a
 * session that nobody reads stops its own program, and nothing else.
 */
#ifndef ROOST_EXEC_H
#define ROOST_EXEC_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "init.h"

#define EXEC_VERSION 1
#define EXEC_MAX_SESSIONS 8
#define EXEC_HEADER_BYTES 8
#define EXEC_MAX_PAYLOAD_BYTES (64u << 10)
#define EXEC_WINDOW_BYTES (64u << 10)
/* The most bytes of output in one frame; with its header it is one chunk for the port, see output.c. */
#define EXEC_MAX_OUTPUT_BYTES (4096 - EXEC_HEADER_BYTES)
#define EXEC_MAX_REASON_BYTES 256

struct exec_session {
  bool used;
  bool tty;
  bool exited;
  bool closing; /* the host has closed the session; nothing of its output is sent any more */
  int status;
  pid_t pid; /* also the number of its process group */
  /* -1: closed. With a terminal, `in_fd` and `out_fd` are its master. */
  int in_fd, out_fd, err_fd;
  uint32_t output_credit; /* how many bytes of output the host will still take */
  uint32_t input_taken;   /* bytes of input that the host has not been told of */
  bool input_ended;
  size_t input_length;
  long long kill_at_ms;
  char input[EXEC_WINDOW_BYTES];
};

/* What a host asks for. The strings point into the frame. */
struct exec_request {
  char **argv; /* ends with NULL */
  const char *term;
  bool tty;
  uint16_t rows, columns;
};

/* exec-clock.c: the monotonic clock. */
long long exec_now_ms(void);

/* exec-request.c */
/* Returns false if the records are not sound. `argv` is freed by the caller. */
bool exec_request_parse(struct exec_request *request, char *records, size_t length);
/* The application's environment with what a terminal adds. Returns NULL without memory. */
char **exec_environment(const struct config *config, const struct exec_request *request);

/* exec-session.c */
/* Returns 0, or the exit code of a program that could not be run, with the reason. */
int exec_session_start(struct exec_session *session, const struct config *config, const struct exec_request *request,
                       char *reason, size_t reason_size);
/* Ends the session's processes: SIGHUP now, SIGKILL a little later. */
void exec_session_close(struct exec_session *session);
void exec_session_signal(struct exec_session *session, int number);
void exec_session_resize(struct exec_session *session, uint16_t rows, uint16_t columns);
/* Writes input to the program as far as the program takes it. */
void exec_session_feed(struct exec_session *session);
void exec_session_end_input(struct exec_session *session);
/* Reads output into `bytes`. Returns 0 if there is none now; at the end it closes `*fd`. */
size_t exec_session_read(struct exec_session *session, int *fd, char *bytes, size_t size);
/* Enforces the time limit of a session that closes. Returns whether nothing of the session is left. */
bool exec_session_is_gone(struct exec_session *session);

/* exec-doomed.c: the processes of sessions whose connection has ended. Their numbers are free for others. */
void exec_doom(struct exec_session *session);
/* Kills those whose time is over. Returns whether some are left. */
bool exec_doomed_are_left(void);

/* exec-server.c */
_Noreturn void exec_serve(int port, const struct config *config);

#endif
