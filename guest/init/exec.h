/*
 * What users do in a guest beside the application: they run programs, copy files (archive.h) and connect
 * to its ports. The host opens the virtio-serial port `exec` for as long as it has sessions. For that
 * time init has a child, the exec server, which serves them; so init itself reads nothing from this port,
 * and a guest without sessions has no such process.
 *
 * Both directions carry frames: a type, the number of a session, two bytes 0, the length of the payload (32
 * bits, the lowest byte first), the payload. src/host/exec/exec-frames.ts has the same numbers.
 *
 *   host to guest                                  guest to host
 *   H  begin anew; 8 fixed bytes and 8 random ones H  the same 16 bytes, the version: all later bytes are new
 *   O  open a session; records `key=value` NUL     S  the program has been started, the connection is there
 *   I  standard input                              O  standard output, or the terminal
 *   E  end of standard input                       R  standard error
 *   C  so many bytes of output were taken (32 bit) C  so many bytes of input were taken (32 bit)
 *   W  rows and columns of the terminal (16 bit)   F  the program can not be run: exit code, reason
 *                                                  D  the output has ended; only of a connection
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

/* Version 2 has copies and connections. */
#define EXEC_VERSION 2
#define EXEC_MAX_PROGRAMS 8
#define EXEC_MAX_CONNECTIONS 64
#define EXEC_MAX_SESSIONS (EXEC_MAX_PROGRAMS + EXEC_MAX_CONNECTIONS)
#define EXEC_HEADER_BYTES 8
#define EXEC_MAX_PAYLOAD_BYTES (64u << 10)
#define EXEC_WINDOW_BYTES (64u << 10)
#define EXEC_CONNECTION_WINDOW_BYTES (32u << 10)
/* The most bytes of output in one frame; with its header it is one chunk for the port, see output.c. */
#define EXEC_MAX_OUTPUT_BYTES (4096 - EXEC_HEADER_BYTES)
#define EXEC_MAX_REASON_BYTES 256

enum exec_kind { EXEC_PROGRAM, EXEC_PACK, EXEC_UNPACK, EXEC_CONNECTION };

struct exec_session {
  bool used;
  enum exec_kind kind;
  bool tty;
  bool exited;
  bool closing; /* the host has closed the session; nothing of its output is sent any more */
  int status;
  pid_t pid; /* also the number of its process group; 0: a connection has none */
  /*
   * -1: closed. With a terminal, `in_fd` and `out_fd` are its master, with a connection they are its
   * socket.
   */
  int in_fd, out_fd, err_fd;
  uint32_t output_credit; /* how many bytes of output the host will still take */
  uint32_t input_taken;   /* bytes of input that the host has not been told of */
  bool input_ended;
  size_t input_length;
  long long kill_at_ms;
  uint16_t port;
  bool connecting; /* the connection is not there yet */
  size_t tried; /* how many addresses were tried before the present one */
  long long connect_until_ms;
  bool output_end_told;
  uint32_t window;
  char *input; /* as large as the window */
};

/* What a host asks for. The strings point into the frame. */
struct exec_request {
  enum exec_kind kind;
  char **argv; /* ends with NULL; empty unless a program is to run */
  const char *term;
  bool tty;
  uint16_t rows, columns;
  /* Of a copy. The paths begin at the working directory of the application. */
  const char *path;
  bool follow, extract, owners;
  uint16_t port; /* of a connection */
};

/* exec-clock.c: the monotonic clock. */
long long exec_now_ms(void);

/* exec-request.c */
/* Returns false if the records are not sound. `argv` is freed by the caller. */
bool exec_request_parse(struct exec_request *request, char *records, size_t length);
/* The application's environment with what a terminal adds. Returns NULL without memory. */
char **exec_environment(const struct config *config, const struct exec_request *request);

/* exec-program.c */
/*
 * Starts a program or a copy. Returns 0, or the exit code of a program that could not be run, with the
 * reason.
 */
int exec_program_start(struct exec_session *session, const struct config *config, const struct exec_request *request,
                       char *reason, size_t reason_size);

/* exec-connection.c */
/* Begins to connect. Returns 0, or the code of a failure with the reason. */
int exec_connection_start(struct exec_session *session, const struct config *config, uint16_t port, char *reason,
                          size_t reason_size);
/*
 * Looks how far it is. Returns true once that is decided: 0 in `*code` if the connection is there, else
 * the code of a failure with the reason.
 */
bool exec_connection_is_decided(struct exec_session *session, const struct config *config, int *code, char *reason,
                                size_t reason_size);

/* exec-session.c */
/* Makes a session without descriptors. Returns false without memory. */
bool exec_session_prepare(struct exec_session *session, enum exec_kind kind, uint32_t window);
/* Gives back what a session holds. Its processes go on. */
void exec_session_forget(struct exec_session *session);
/* Ends the session's processes: SIGHUP now, SIGKILL a little later. A connection is closed. */
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
