/*
 * Answers every HTTP request on port 8080 with "Hello from <host name>". The platform gives an instance its
 * name as the host name. The program has one thread and poll(2), and is so small that it listens at once
 * after the boot. It has keep-alive, so that a benchmark measures the platform. SIGTERM ends it with exit
 * code 0.
 *
 * With variables it is a version that one can tell from others, or a bad one, to try rollouts:
 *   GREETING      is answered in place of "Hello from <host name>"
 *   STATUS        the status of every answer
 *   SILENT        if it is set, nothing ever listens
 *   END_AFTER_S   after so many seconds it ends with exit code 3
 *   LEAK_MB_PER_S so much memory it takes each second and never gives back
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../listening.h"

enum { PORT = 8080, MAX_CONNECTIONS = 512, MAX_HEAD_BYTES = 8192 };

struct connection {
  size_t used;
  /* The number of bytes of a request's body that are still to come. They are read and dropped. */
  unsigned long long body_left;
  char head[MAX_HEAD_BYTES + 1];
};

static struct pollfd polled[MAX_CONNECTIONS + 1];
static struct connection *connections[MAX_CONNECTIONS + 1];
static nfds_t polled_count = 1;
static volatile sig_atomic_t stopping;
static char answer[768];
static size_t answer_bytes;

static void stop(int signal) {
  (void)signal;
  stopping = 1;
}

static void make_answer(void) {
  char name[128] = "";
  char body[320];
  const char *greeting = getenv("GREETING");
  const char *status = getenv("STATUS");
  gethostname(name, sizeof name - 1);
  if (greeting)
    snprintf(body, sizeof body, "%.256s\n", greeting);
  else
    snprintf(body, sizeof body, "Hello from %s\n", name);
  answer_bytes = (size_t)snprintf(
      answer, sizeof answer, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
      status ? atoi(status) % 1000 : 200, status ? "As asked" : "OK", strlen(body), body);
}

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* The number in a variable; -1 if it is not set. */
static long number_in(const char *variable) {
  const char *value = getenv(variable);
  return value ? atol(value) : -1;
}

/* Takes memory that is never given back. Each page is written, so that it is really taken. */
static void leak(long megabytes) {
  size_t bytes = (size_t)megabytes << 20;
  volatile char *taken = malloc(bytes);
  if (!taken) exit(4);
  for (size_t at = 0; at < bytes; at += 4096) taken[at] = 1;
}

/* Does what bad versions do each second. Returns how long to wait for requests; NULL: for ever. */
static const struct timespec *misbehave(void) {
  static const struct timespec second = {.tv_sec = 1};
  static long long begin_ms, leaked_ms;
  static long end_after_s, leak_mb;
  if (!begin_ms) {
    begin_ms = leaked_ms = now_ms();
    end_after_s = number_in("END_AFTER_S");
    leak_mb = number_in("LEAK_MB_PER_S");
  }
  if (end_after_s < 0 && leak_mb < 0) return NULL;
  if (end_after_s >= 0 && now_ms() - begin_ms >= end_after_s * 1000) exit(3);
  if (leak_mb > 0 && now_ms() - leaked_ms >= 1000) {
    leak(leak_mb);
    leaked_ms = now_ms();
  }
  return &second;
}

static const char *header(const char *head, const char *name) {
  const char *line = strcasestr(head, name);
  return line ? line + strlen(name) : NULL;
}

/* Answers one request. Returns false if the connection has to be closed. */
static int answer_request(int fd, const char *head) {
  const char *wish = header(head, "\r\nconnection:");
  if (wish) wish += strspn(wish, " ");
  int old = strstr(head, " HTTP/1.0\r\n") != NULL;
  int keep = old ? wish && strncasecmp(wish, "keep-alive", 10) == 0 : !wish || strncasecmp(wish, "close", 5) != 0;
  /* The answer is smaller than any socket's buffer. So if it does not fit, the client is not reading. */
  return write(fd, answer, answer_bytes) == (ssize_t)answer_bytes && keep;
}

/* Answers all requests that are complete. Returns false if the connection has to be closed. */
static int serve(int fd, struct connection *c) {
  for (;;) {
    if (c->body_left > 0) {
      size_t skipped = c->used < c->body_left ? c->used : (size_t)c->body_left;
      memmove(c->head, c->head + skipped, c->used - skipped);
      c->used -= skipped;
      c->body_left -= skipped;
    }
    c->head[c->used] = '\0';
    char *end = c->body_left == 0 ? memmem(c->head, c->used, "\r\n\r\n", 4) : NULL;
    if (!end) return c->body_left > 0 || c->used < MAX_HEAD_BYTES;
    size_t head_bytes = (size_t)(end - c->head) + 4;
    end[2] = '\0';
    const char *length = header(c->head, "\r\ncontent-length:");
    c->body_left = length ? strtoull(length, NULL, 10) : 0;
    int keep = answer_request(fd, c->head);
    memmove(c->head, c->head + head_bytes, c->used - head_bytes);
    c->used -= head_bytes;
    if (!keep) return 0;
  }
}

static void drop(nfds_t at) {
  close(polled[at].fd);
  free(connections[at]);
  polled_count--;
  polled[at] = polled[polled_count];
  connections[at] = connections[polled_count];
}

static void accept_one(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  struct connection *c = polled_count <= MAX_CONNECTIONS ? calloc(1, sizeof *c) : NULL;
  if (!c) {
    close(fd);
    return;
  }
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  polled[polled_count] = (struct pollfd){.fd = fd, .events = POLLIN};
  connections[polled_count++] = c;
}

static int receive(nfds_t at) {
  struct connection *c = connections[at];
  ssize_t got = read(polled[at].fd, c->head + c->used, MAX_HEAD_BYTES - c->used);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  c->used += (size_t)got;
  return got > 0 && serve(polled[at].fd, c);
}

int main(void) {
  struct sigaction on_stop = {.sa_handler = stop};
  sigaction(SIGTERM, &on_stop, NULL);
  sigaction(SIGINT, &on_stop, NULL);
  signal(SIGPIPE, SIG_IGN);
  /* Signals are delivered only during the wait. So no signal can come between the test and the wait. */
  sigset_t while_working, while_waiting;
  sigemptyset(&while_waiting);
  sigemptyset(&while_working);
  sigaddset(&while_working, SIGTERM);
  sigaddset(&while_working, SIGINT);
  sigprocmask(SIG_BLOCK, &while_working, NULL);
  make_answer();
  if (getenv("SILENT"))
    while (!stopping) ppoll(NULL, 0, NULL, &while_waiting);
  if (stopping) return 0;
  polled[0] = (struct pollfd){.fd = listen_on(PORT), .events = POLLIN};
  dprintf(1, "listening on %d\n", PORT);
  while (!stopping) {
    if (ppoll(polled, polled_count, misbehave(), &while_waiting) <= 0) continue;
    for (nfds_t at = polled_count - 1; at > 0; at--)
      if (polled[at].revents && !receive(at)) drop(at);
    if (polled[0].revents) accept_one(polled[0].fd);
  }
  return 0;
}
