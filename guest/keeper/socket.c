#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper.h"

int socket_listen(const char *name, int backlog) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(name) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, name);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  mode_t before = umask(0177);
  bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
  umask(before);
  if (bound && listen(fd, backlog) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}
