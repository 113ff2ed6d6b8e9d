/*
 * The VM as a machine: what the keeper knows of its state, and the commands to the VMM. monitor.c reads the
 * VMM's answers.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper.h"

static int fd = -1;
static struct vm *vm;
static const struct options *options;
static bool running, told_running, paused, shut_down, stuck;

void machine_open(struct vm *given_vm, const struct options *given_options) {
  vm = given_vm;
  fd = given_vm->monitor_fd;
  options = given_options;
}

void machine_kill(void) { vm_kill(vm); }

void machine_note(enum machine_change change) {
  switch (change) {
    case MACHINE_RUNS:
      running = true;
      paused = false;
      return;
    case MACHINE_PAUSED:
      paused = true;
      return;
    case MACHINE_SHUT_DOWN:
      shut_down = true;
      return;
    case MACHINE_STUCK:
      stuck = true;
      return;
  }
}

bool machine_is_stuck(void) { return stuck; }
bool machine_runs(void) { return running && !paused && !shut_down && !stuck; }
bool machine_has_shut_down(void) { return shut_down; }
bool machine_ended(void) { return shut_down || stuck; }

void machine_command(const char *text) {
  if (write(fd, text, strlen(text)) < 0) return; /* the VMM has ended; that is noticed elsewhere */
}

void machine_command_with_fd(const char *text, int passed_fd) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec body = {(void *)text, strlen(text)};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), &passed_fd, sizeof passed_fd);
  if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0) return;
}

void machine_power_down(void) { machine_command("{\"execute\":\"system_powerdown\"}\n"); }

/* A VM that goes on from its snapshot gets traffic from here on, so not before its clock is right. */
void machine_tell_running(void) {
  if (told_running || !running) return;
  told_running = true;
  event("running");
  /* The application's socket was there already when the instance fell asleep. */
  if (options->from_snapshot && options->listening > 0) event("listen");
}
