/*
 * Agents connect here. Each gets every event so far and then each new one, and may send
 *   shutdown <grace ms>      kill <cause>
 * The socket is in a directory that only the agent's user may enter, and its path is relative: absolute ones may be
 * longer than a socket's address can be.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper.h"

struct client {
  int fd; /* 0: free */
  char inbox[128];
  size_t inbox_length;
};

static int listener = -1;
static struct client clients[MAX_CLIENTS];

bool control_open(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "keeper.sock"};
  listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  mode_t before = umask(0177);
  bool bound = listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0;
  umask(before);
  return bound && listen(listener, MAX_CLIENTS) == 0;
}

static void drop(struct client *client) {
  close(client->fd);
  memset(client, 0, sizeof *client);
}

/* Everything ever said to a client fits into a socket's buffer; one that does not read is let go and may come again. */
static void tell(struct client *client, const char *text, size_t length) {
  if (send(client->fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length) drop(client);
}

void control_broadcast(const char *line, size_t length) {
  for (size_t i = 0; i < MAX_CLIENTS; i++) {
    if (clients[i].fd != 0) tell(&clients[i], line, length);
  }
}

static void welcome(void) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  for (size_t i = 0; i < MAX_CLIENTS; i++) {
    if (clients[i].fd != 0) continue;
    clients[i].fd = fd;
    size_t length;
    const char *text = events_text(&length);
    tell(&clients[i], text, length);
    return;
  }
  close(fd);
}

static void obey(const char *line) {
  long long grace_ms;
  char cause[32];
  if (sscanf(line, "shutdown %lld", &grace_ms) == 1 && grace_ms >= 0) {
    guest_shutdown(grace_ms);
  } else if (sscanf(line, "kill %31[a-z-]", cause) == 1) {
    event("kill %s", cause);
    kill_vm();
  }
}

static void listen_to(struct client *client) {
  ssize_t got = read(client->fd, client->inbox + client->inbox_length, sizeof client->inbox - client->inbox_length);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    drop(client);
    return;
  }
  client->inbox_length += (size_t)got;
  for (char *end; (end = memchr(client->inbox, '\n', client->inbox_length)) != NULL;) {
    *end = '\0';
    obey(client->inbox);
    client->inbox_length -= (size_t)(end + 1 - client->inbox);
    memmove(client->inbox, end + 1, client->inbox_length);
  }
  if (client->inbox_length == sizeof client->inbox) drop(client);
}

size_t control_poll(struct pollfd *slots) {
  slots[0] = (struct pollfd){.fd = listener, .events = POLLIN};
  for (size_t i = 0; i < MAX_CLIENTS; i++) {
    slots[i + 1] = (struct pollfd){.fd = clients[i].fd != 0 ? clients[i].fd : -1, .events = POLLIN};
  }
  return MAX_CLIENTS + 1;
}

void control_handle(const struct pollfd *slots, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (slots[i].revents != 0 && clients[i - 1].fd == slots[i].fd) listen_to(&clients[i - 1]);
  }
  if (slots[0].revents != 0) welcome();
}
