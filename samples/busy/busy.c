/*
 * An application that works for its answers, so that one can put load on it. It serves HTTP on port 8080, or
 * on the port in its argument:
 *   GET /?ms=N     uses N milliseconds of CPU (20 without N, 2000 at most) and answers with the instance's name
 *   GET /healthz   answers at once
 * Each connection has a thread, so a request that works does not hold up other connections. The CPU time is
 * that of the thread, so N milliseconds stay N milliseconds, however many threads share the processor. After
 * SIGTERM it answers the requests in flight and ends with exit code 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../listening.h"

enum { DEFAULT_PORT = 8080, DEFAULT_MS = 20, MAX_MS = 2000, MAX_CONNECTIONS = 512 };
enum { MAX_HEAD_BYTES = 8192, STACK_BYTES = 64 * 1024 };

/* The platform gives an instance its name as the host name. */
static char name[128];
static volatile sig_atomic_t stopping;

/* The sockets of the open connections, in no particular order. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_closed = PTHREAD_COND_INITIALIZER;
static int open_fds[MAX_CONNECTIONS];
static int open_count;

static void stop(int signal) {
  (void)signal;
  stopping = 1;
}

static long long cpu_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1000000000LL + used.tv_nsec;
}

static void burn(long ms) {
  long long end = cpu_ns() + ms * 1000000LL;
  while (cpu_ns() < end)
    for (volatile int i = 0; i < 1000; i++) continue;
}

/* Answers are smaller than any socket's buffer. So if an answer does not fit, the client is not reading. */
static bool answer(int fd, const char *status, const char *body, bool keep) {
  char text[512];
  int length = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s\r\n%s", status,
                        strlen(body), keep ? "" : "Connection: close\r\n", body);
  return write(fd, text, (size_t)length) == length && keep;
}

/*
 * Refuses a request and closes its connection. Otherwise the rest of its body would be read as the next
 * request.
 */
static bool refuse(int fd, const char *status, const char *why) { return answer(fd, status, why, false); }

static bool answer_load(int fd, const char *query, bool keep) {
  char body[256], *end = NULL;
  long ms = DEFAULT_MS;
  if (strncmp(query, "?ms=", 4) == 0) ms = strtol(query + 4, &end, 10);
  if (end ? end == query + 4 || *end != ' ' : *query != ' ') return refuse(fd, "400 Bad Request", "GET /?ms=N\n");
  ms = ms < 0 ? 0 : ms > MAX_MS ? MAX_MS : ms;
  burn(ms);
  snprintf(body, sizeof body, "%s burned %ld ms\n", name, ms);
  /* While the program stops, it closes connections after the answer, so that clients go elsewhere. */
  return answer(fd, "200 OK", body, keep && !stopping);
}

/* Answers one request. Returns false if the connection has to be closed. */
static bool answer_request(int fd, const char *head) {
  bool keep = strcasestr(head, "\r\nconnection: close") == NULL && strstr(head, " HTTP/1.0\r\n") == NULL;
  if (strncmp(head, "GET /", 5) != 0) return refuse(fd, "405 Method Not Allowed", "GET only\n");
  if (head[5] == ' ' || head[5] == '?') return answer_load(fd, head + 5, keep);
  if (strncmp(head, "GET /healthz ", 13) == 0) return answer(fd, "200 OK", "ok\n", keep && !stopping);
  return answer(fd, "404 Not Found", "", keep && !stopping);
}

/* Serves a connection until the client or one of its requests ends it. */
static void serve(int fd) {
  char head[MAX_HEAD_BYTES + 1];
  size_t used = 0;
  for (;;) {
    head[used] = '\0';
    char *end = memmem(head, used, "\r\n\r\n", 4);
    if (end != NULL) {
      size_t bytes = (size_t)(end - head) + 4;
      end[2] = '\0';
      if (!answer_request(fd, head)) return;
      memmove(head, head + bytes, used - bytes);
      used -= bytes;
      continue;
    }
    if (used == MAX_HEAD_BYTES) return;
    ssize_t got = read(fd, head + used, MAX_HEAD_BYTES - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    used += (size_t)got;
  }
}

static void forget(int fd) {
  pthread_mutex_lock(&lock);
  for (int at = 0; at < open_count; at++)
    if (open_fds[at] == fd) {
      open_fds[at] = open_fds[--open_count];
      break;
    }
  /*
   * The socket is closed while the lock is held. Otherwise `finish` could shut down another file that got
   * the same number.
   */
  close(fd);
  if (open_count == 0) pthread_cond_signal(&all_closed);
  pthread_mutex_unlock(&lock);
}

static void *run(void *argument) {
  int fd = (int)(intptr_t)argument;
  serve(fd);
  forget(fd);
  return NULL;
}

/* Accepts a connection. Returns false if none waits. */
static bool accept_one(int listener, const pthread_attr_t *attributes) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return false;
  pthread_t thread;
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  pthread_mutex_lock(&lock);
  bool room = open_count < MAX_CONNECTIONS;
  if (room) open_fds[open_count++] = fd;
  pthread_mutex_unlock(&lock);
  if (!room)
    close(fd);
  else if (pthread_create(&thread, attributes, run, (void *)(intptr_t)fd) != 0)
    forget(fd);
  return true;
}

/*
 * Lets the threads read and answer what clients have already sent, but nothing more. Waits for the threads.
 */
static void finish(void) {
  pthread_mutex_lock(&lock);
  for (int at = 0; at < open_count; at++) shutdown(open_fds[at], SHUT_RD);
  while (open_count > 0) pthread_cond_wait(&all_closed, &lock);
  pthread_mutex_unlock(&lock);
}

int main(int count, char **arguments) {
  int port = count > 1 ? atoi(arguments[1]) : DEFAULT_PORT;
  struct sigaction on_stop = {.sa_handler = stop};
  sigaction(SIGTERM, &on_stop, NULL);
  sigaction(SIGINT, &on_stop, NULL);
  signal(SIGPIPE, SIG_IGN);
  /*
   * The signals are delivered only to this thread and only while it waits. So no signal can come between the
   * test of `stopping` and the wait.
   */
  sigset_t while_working, while_waiting;
  sigemptyset(&while_waiting);
  sigemptyset(&while_working);
  sigaddset(&while_working, SIGTERM);
  sigaddset(&while_working, SIGINT);
  sigprocmask(SIG_BLOCK, &while_working, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  gethostname(name, sizeof name - 1);
  int listener = listen_on(port);
  struct pollfd waiting = {.fd = listener, .events = POLLIN};
  dprintf(1, "listening on %d\n", port);
  while (!stopping)
    if (ppoll(&waiting, 1, NULL, &while_waiting) > 0) accept_one(listener, &attributes);
  while (accept_one(listener, &attributes)) continue;
  close(listener);
  finish();
  dprintf(1, "goodbye\n");
  return 0;
}
