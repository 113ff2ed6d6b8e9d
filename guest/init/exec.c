/*
 * init's part of exec.h: it keeps the port open, and has an exec server for as long as the host is connected
 * to the port. While the host is not connected, poll would return at once for ever, so the kernel's signal
 * says when that changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "exec.h"

static int port = -1;
static pid_t server = -1;
static const struct config *application;

static bool host_is_connected(void) {
  struct pollfd ready = {.fd = port};
  return poll(&ready, 1, 0) == 0;
}

void exec_open(const struct config *config) {
  application = config;
  port = port_open("exec", O_RDWR | O_NONBLOCK);
  fcntl(port, F_SETOWN, getpid());
  exec_tend();
}

void exec_tend(void) {
  if (server > 0) return;
  /* The server turns the signal off, because the kernel would send it with all data. */
  fcntl(port, F_SETFL, O_NONBLOCK | O_ASYNC);
  if (!host_is_connected()) return;
  server = fork();
  if (server == 0) {
    fcntl(port, F_SETFL, O_NONBLOCK);
    exec_serve(port, application);
  }
  if (server < 0) say("no process for the programs of users: %s", strerror(errno));
}

void exec_note_end(pid_t ended) {
  if (ended == server) server = -1;
}
