/*
 * The socket to which agents connect. An agent first gets every event so far and then each new one. It may
 * send
 *   shutdown <grace ms>      kill <cause>
 *   sleep?                   answered by `~ sleep ready|disabled`
 *   awake                    the guest shall stay awake after all; also if the agent that asked disconnects
 *   settle                   answered by `~ settled` once no earlier agent's suspension is under way
 *   term                     the keeper shall read the host's term again; answered by `~ term <deadline>`, see term.c
 *   mirror                   see mirror.c; answered by `~ mirror begins <number>`, and then the VMM speaks NBD on this connection; or
 *                            by `~ mirror refused <why>`
 *   suspend                  see suspend.c; answered by the event `suspended` or by `~ suspend failed <why>`
 * Lines that begin with `~` are not recorded. `~ disabled 0|1` is sent at most ten times a second. A new
 * agent gets the last `~ disabled 0|1`, and `~ stalled 0|1` of stall.c. Only the agent's user may enter the
 * directory of the socket. The socket's path is relative, because an absolute path may be too long for a
 * socket's address.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper.h"

struct client {
  int fd; /* 0: free */
  struct lines inbox;
};

static int listener = -1;
static struct client clients[MAX_CLIENTS];
/*
 * The agent that was the last to ask the guest to sleep. When its connection closes, the keeper has to wake
 * the guest.
 */
static struct client *asker;

static void drop(struct client *client) {
  close(client->fd);
  memset(client, 0, sizeof *client);
  if (client != asker) return;
  asker = NULL;
  suspend_cancel("its agent is gone");
  guest_awake();
}

/*
 * Sends text to an agent. Everything that a keeper sends in its life fits into the buffer of a socket. An
 * agent that does not read is disconnected, and may connect again.
 */
static void tell(struct client *client, const char *text, size_t length) {
  if (send(client->fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length) drop(client);
}

static void broadcast(const char *line, size_t length) {
  for (size_t i = 0; i < MAX_CLIENTS; i++) {
    if (clients[i].fd != 0) tell(&clients[i], line, length);
  }
}

bool control_open(void) {
  events_listen(broadcast);
  listener = socket_listen("keeper.sock", MAX_CLIENTS);
  return listener >= 0;
}

static void greet(struct client *client) {
  char line[64];
  int length = snprintf(line, sizeof line, "~ stalled %d\n", stall_is_known());
  if (guest_disabled() >= 0) length += snprintf(line + length, sizeof line - (size_t)length, "~ disabled %d\n", guest_disabled());
  if (client->fd != 0) tell(client, line, (size_t)length);
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
    greet(&clients[i]);
    return;
  }
  close(fd);
}

/* If the mirror begins, the VMM has the connection, and this process has it no more. */
static void begin_mirror(struct client *client) {
  char line[64];
  const char *obstacle = suspend_under_way() ? "the VM is being suspended" : mirror_begin(client->fd);
  if (obstacle != NULL) {
    int length = snprintf(line, sizeof line, "~ mirror refused %s\n", obstacle);
    tell(client, line, (size_t)length);
    return;
  }
  int length = snprintf(line, sizeof line, "~ mirror begins %d\n", mirror_number());
  send(client->fd, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(client->fd);
  if (client == asker) asker = NULL;
  memset(client, 0, sizeof *client);
}

static void obey(const char *line, void *from) {
  long long grace_ms;
  char cause[32];
  if (sscanf(line, "shutdown %lld", &grace_ms) == 1 && grace_ms >= 0) {
    suspend_cancel("it is to shut down");
    guest_shutdown(grace_ms);
  } else if (strcmp(line, "sleep?") == 0) {
    asker = from;
    guest_ask_to_sleep();
  } else if (strcmp(line, "awake") == 0) {
    asker = NULL;
    guest_awake();
  } else if (strcmp(line, "settle") == 0) {
    suspend_settle();
  } else if (strcmp(line, "term") == 0) {
    term_answer();
  } else if (strcmp(line, "mirror") == 0) {
    begin_mirror(from);
  } else if (strcmp(line, "suspend") == 0) {
    asker = from;
    suspend_begin();
  } else if (sscanf(line, "kill %31[a-z-]", cause) == 1) {
    event("kill %s", cause);
    suspend_cancel("it is to end");
    machine_kill();
  }
}

static void listen_to(struct client *client) {
  enum lines_end end = lines_read(client->fd, &client->inbox, obey, client);
  if (end == LINES_CLOSED || end == LINES_TOO_LONG) drop(client);
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
