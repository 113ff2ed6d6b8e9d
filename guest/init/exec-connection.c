/*
 * A connection to a port of this guest. It is tried at the addresses at which an application may listen:
 * those of the guest itself, and then the one by which other instances reach it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exec.h"

/* An application whose queue is full takes no connection for a while. */
#define CONNECT_LIMIT_MS 10000
/* As shells report a program that can not be executed. */
#define CODE_REFUSED 126

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

/* Returns the length of the address, or 0 if there is none with this number. */
static socklen_t address_of(union address *to, const struct config *config, size_t number, uint16_t port) {
  memset(to, 0, sizeof *to);
  if (number == 1) {
    to->v6.sin6_family = AF_INET6;
    to->v6.sin6_port = htons(port);
    to->v6.sin6_addr = in6addr_loopback;
    return sizeof to->v6;
  }
  if (number > 2 || (number == 2 && config->ip == NULL)) return 0;
  to->v4.sin_family = AF_INET;
  to->v4.sin_port = htons(port);
  to->v4.sin_addr.s_addr = number == 0 ? htonl(INADDR_LOOPBACK) : inet_addr(config->ip);
  return sizeof to->v4;
}

/* Begins with the next address at which that is possible. Returns 0, or why the last one failed. */
static int try_next(struct exec_session *session, const struct config *config, int why) {
  union address to;
  for (socklen_t length; (length = address_of(&to, config, session->tried, session->port)) > 0; session->tried++) {
    int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    if (fd >= 0 && (connect(fd, &to.any, length) == 0 || errno == EINPROGRESS)) {
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      session->in_fd = fd;
      return 0;
    }
    /* A kernel without IPv6 says nothing about the application. */
    if (why == 0 || errno == ECONNREFUSED) why = errno;
    if (fd >= 0) close(fd);
  }
  return why;
}

static int tell_why(const struct exec_session *session, int why, char *reason, size_t reason_size) {
  if (why == ECONNREFUSED) snprintf(reason, reason_size, "nothing listens on port %u", session->port);
  else snprintf(reason, reason_size, "port %u: %s", session->port, strerror(why));
  return CODE_REFUSED;
}

int exec_connection_start(struct exec_session *session, const struct config *config, uint16_t port, char *reason,
                          size_t reason_size) {
  int why = exec_session_prepare(session, EXEC_CONNECTION, EXEC_CONNECTION_WINDOW_BYTES) ? 0 : ENOMEM;
  session->port = port;
  if (why == 0) why = try_next(session, config, 0);
  if (why != 0) {
    exec_session_forget(session);
    return tell_why(session, why, reason, reason_size);
  }
  session->used = session->connecting = true;
  session->connect_until_ms = exec_now_ms() + CONNECT_LIMIT_MS;
  return 0;
}

bool exec_connection_is_decided(struct exec_session *session, const struct config *config, int *code, char *reason,
                                size_t reason_size) {
  struct pollfd ready = {.fd = session->in_fd, .events = POLLOUT};
  int why = 0;
  socklen_t size = sizeof why;
  if (poll(&ready, 1, 0) > 0) getsockopt(session->in_fd, SOL_SOCKET, SO_ERROR, &why, &size);
  else if (exec_now_ms() >= session->connect_until_ms) why = ETIMEDOUT;
  else return false;
  if (why != 0) {
    close(session->in_fd);
    session->in_fd = -1;
    session->tried++;
    why = try_next(session, config, why);
    if (why == 0) return false;
  } else if ((session->out_fd = fcntl(session->in_fd, F_DUPFD_CLOEXEC, 3)) < 0) {
    why = errno;
  }
  *code = why == 0 ? 0 : tell_why(session, why, reason, reason_size);
  session->connecting = false;
  return true;
}
