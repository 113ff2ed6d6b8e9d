/*
 * An application that counts its requests in memory, so that one can see whether memory survived a sleep. It
 * serves HTTP on port 8080:
 *   /            a page with the count and a WebSocket to try
 *   /count       the count alone
 *   /slow?ms=N   the count after N milliseconds
 *   /time        the guest's clock, in milliseconds since the epoch
 *   /ws          a WebSocket that answers every text with the count and that text
 * On port 7000, TCP: every line is answered with the count and that line. SIGTERM ends it with exit code 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
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
#include "websocket.h"

enum { HTTP_PORT = 8080, LINE_PORT = 7000, LISTENERS = 2, MAX_CONNECTIONS = 512, BUFFER_BYTES = 8192, MAX_SLOW_MS = 60000 };
enum kind { KIND_HTTP, KIND_LINES, KIND_WEBSOCKET };

struct connection {
  enum kind kind;
  size_t used;
  /* The time when a slow answer has to be sent; 0: there is none to send. */
  long long answer_at_ms;
  char bytes[BUFFER_BYTES + 1];
};

static struct pollfd polled[MAX_CONNECTIONS + LISTENERS];
static struct connection *connections[MAX_CONNECTIONS + LISTENERS];
static nfds_t polled_count = LISTENERS;
static volatile sig_atomic_t stopping;
static unsigned long count;
static char name[128];

static const char page[] =
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<title>%s</title><style>body{font:1.1rem/1.5 system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem}"
    "b{font-size:3rem}</style><h1>%s</h1><p>Asked <b id=count>%lu</b> times since its memory began.</p>"
    "<p><button id=open>Open a WebSocket</button> <span id=state></span></p><script>"
    "document.getElementById('open').onclick=()=>{const s=document.getElementById('state'),"
    "w=new WebSocket(location.origin.replace('http','ws')+'/ws');w.onopen=()=>{s.textContent='open';w.send('hello')};"
    "w.onmessage=m=>{s.textContent=m.data};w.onclose=e=>{s.textContent='closed '+e.code}}</script></html>\n";

static void stop(int signal) {
  (void)signal;
  stopping = 1;
}

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Answers are smaller than any socket's buffer. So if an answer does not fit, the client is not reading. */
static bool send_all(int fd, const char *bytes, size_t length) { return write(fd, bytes, length) == (ssize_t)length; }

static bool answer(int fd, const char *type, const char *body) {
  char text[4096];
  int length = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s", type,
                        strlen(body), body);
  return send_all(fd, text, (size_t)length);
}

static bool answer_count(int fd) {
  char body[32];
  snprintf(body, sizeof body, "%lu\n", ++count);
  return answer(fd, "text/plain", body);
}

static bool answer_time(int fd) {
  char body[32];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(body, sizeof body, "%lld\n", now.tv_sec * 1000LL + now.tv_nsec / 1000000);
  return answer(fd, "text/plain", body);
}

/* Answers a browser that asks for an icon by itself. Such a request does not count as a visit. */
static bool answer_nothing(int fd) {
  static const char text[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
  return send_all(fd, text, sizeof text - 1);
}

static bool answer_page(int fd) {
  char body[2048];
  snprintf(body, sizeof body, page, name, name, ++count);
  return answer(fd, "text/html; charset=utf-8", body);
}

static bool become_websocket(int fd, struct connection *c) {
  char accept[32], text[256];
  const char *key = strcasestr(c->bytes, "\r\nsec-websocket-key:");
  if (key == NULL) return false;
  key += strlen("\r\nsec-websocket-key:");
  key += strspn(key, " ");
  size_t length = strcspn(key, "\r\n ");
  if (length > 64) return false;
  ws_accept(key, length, accept);
  int bytes = snprintf(text, sizeof text,
                       "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Accept: %s\r\n\r\n",
                       accept);
  c->kind = KIND_WEBSOCKET;
  return send_all(fd, text, (size_t)bytes);
}

static bool answer_request(int fd, struct connection *c) {
  if (strncmp(c->bytes, "GET /ws ", 8) == 0) return become_websocket(fd, c);
  if (strncmp(c->bytes, "GET /slow?ms=", 13) == 0) {
    long wait_ms = strtol(c->bytes + 13, NULL, 10);
    c->answer_at_ms = now_ms() + (wait_ms < 0 ? 0 : wait_ms > MAX_SLOW_MS ? MAX_SLOW_MS : wait_ms);
    return true;
  }
  if (strncmp(c->bytes, "GET /time ", 10) == 0) return answer_time(fd);
  if (strncmp(c->bytes, "GET /count ", 11) == 0) return answer_count(fd);
  return strncmp(c->bytes, "GET / ", 6) == 0 ? answer_page(fd) : answer_nothing(fd);
}

static void consume(struct connection *c, size_t length) {
  memmove(c->bytes, c->bytes + length, c->used - length);
  c->used -= length;
}

static bool serve_http(int fd, struct connection *c) {
  while (c->answer_at_ms == 0 && c->kind == KIND_HTTP) {
    c->bytes[c->used] = '\0';
    char *end = memmem(c->bytes, c->used, "\r\n\r\n", 4);
    if (end == NULL) return c->used < BUFFER_BYTES;
    size_t head = (size_t)(end - c->bytes) + 4;
    end[2] = '\0';
    bool keep = answer_request(fd, c) && strcasestr(c->bytes, "\r\nconnection: close") == NULL;
    consume(c, head);
    if (!keep) return false;
  }
  return true;
}

static bool serve_lines(int fd, struct connection *c) {
  for (char *end; (end = memchr(c->bytes, '\n', c->used)) != NULL;) {
    char text[BUFFER_BYTES + 32];
    size_t length = (size_t)(end - c->bytes) + 1;
    int bytes = snprintf(text, sizeof text, "%lu %.*s", ++count, (int)length, c->bytes);
    consume(c, length);
    if (!send_all(fd, text, (size_t)bytes)) return false;
  }
  return c->used < BUFFER_BYTES;
}

static bool send_frame(int fd, int opcode, const void *payload, size_t size) {
  unsigned char frame[WS_MAX_PAYLOAD + 64];
  size_t at = 2;
  frame[0] = (unsigned char)(0x80 | opcode);
  frame[1] = (unsigned char)(size < 126 ? size : 126);
  if (size >= 126) {
    frame[2] = (unsigned char)(size >> 8);
    frame[3] = (unsigned char)size;
    at = 4;
  }
  memcpy(frame + at, payload, size);
  return send_all(fd, (char *)frame, at + size);
}

static bool serve_websocket(int fd, struct connection *c) {
  for (;;) {
    int opcode;
    unsigned char *payload;
    size_t size;
    int length = ws_frame((unsigned char *)c->bytes, c->used, &opcode, &payload, &size);
    if (length <= 0) return length == 0;
    if (opcode == WS_CLOSE) {
      send_frame(fd, WS_CLOSE, payload, size);
      return false;
    }
    bool sent = true;
    if (opcode == WS_PING) sent = send_frame(fd, WS_PONG, payload, size);
    if (opcode == WS_TEXT) {
      char text[WS_MAX_PAYLOAD + 32];
      int bytes = snprintf(text, sizeof text, "%lu %.*s", ++count, (int)size, (char *)payload);
      sent = send_frame(fd, WS_TEXT, text, (size_t)(bytes < WS_MAX_PAYLOAD ? bytes : WS_MAX_PAYLOAD));
    }
    consume(c, (size_t)length);
    if (!sent) return false;
  }
}

static bool serve(int fd, struct connection *c) {
  if (c->kind == KIND_HTTP && !serve_http(fd, c)) return false;
  if (c->kind == KIND_LINES) return serve_lines(fd, c);
  return c->kind != KIND_WEBSOCKET || serve_websocket(fd, c);
}

static void drop(nfds_t at) {
  close(polled[at].fd);
  free(connections[at]);
  polled_count--;
  polled[at] = polled[polled_count];
  connections[at] = connections[polled_count];
}

static void accept_one(int listener, enum kind kind) {
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  struct connection *c = polled_count < MAX_CONNECTIONS + LISTENERS ? calloc(1, sizeof *c) : NULL;
  if (c == NULL) {
    close(fd);
    return;
  }
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  c->kind = kind;
  polled[polled_count] = (struct pollfd){.fd = fd, .events = POLLIN};
  connections[polled_count++] = c;
}

static bool receive(nfds_t at) {
  struct connection *c = connections[at];
  if (c->used == BUFFER_BYTES) return false;
  ssize_t got = read(polled[at].fd, c->bytes + c->used, BUFFER_BYTES - c->used);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  c->used += (size_t)got;
  return got > 0 && serve(polled[at].fd, c);
}

/* How long to wait until the next slow answer has to be sent; -1: there is none to send. */
static int next_answer_ms(void) {
  long long next = -1;
  for (nfds_t at = LISTENERS; at < polled_count; at++) {
    long long due = connections[at]->answer_at_ms;
    if (due != 0 && (next < 0 || due < next)) next = due;
  }
  if (next < 0) return -1;
  long long wait = next - now_ms();
  return wait < 0 ? 0 : (int)wait;
}

static bool answer_if_due(nfds_t at) {
  struct connection *c = connections[at];
  if (c->answer_at_ms == 0 || c->answer_at_ms > now_ms()) return true;
  c->answer_at_ms = 0;
  return answer_count(polled[at].fd) && serve(polled[at].fd, c);
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
  gethostname(name, sizeof name - 1);
  polled[0] = (struct pollfd){.fd = listen_on(HTTP_PORT), .events = POLLIN};
  polled[1] = (struct pollfd){.fd = listen_on(LINE_PORT), .events = POLLIN};
  dprintf(1, "listening on %d and %d\n", HTTP_PORT, LINE_PORT);
  while (!stopping) {
    int wait_ms = next_answer_ms();
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L};
    int ready = ppoll(polled, polled_count, wait_ms < 0 ? NULL : &wait, &while_waiting);
    if (ready < 0) continue;
    for (nfds_t at = polled_count - 1; at >= LISTENERS; at--)
      if ((polled[at].revents && !receive(at)) || !answer_if_due(at)) drop(at);
    if (polled[0].revents) accept_one(polled[0].fd, KIND_HTTP);
    if (polled[1].revents) accept_one(polled[1].fd, KIND_LINES);
  }
  dprintf(1, "asked %lu times, goodbye\n", count);
  return 0;
}
