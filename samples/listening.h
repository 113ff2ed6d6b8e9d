/* The code with which every sample that serves TCP begins. */
#ifndef SAMPLES_LISTENING_H
#define SAMPLES_LISTENING_H
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Listens on a port, or ends the program if that is impossible. Needs _GNU_SOURCE. */
static int listen_on(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 512) < 0) {
    perror("listen");
    exit(1);
  }
  return fd;
}
#endif
