/* Runs the guest's exec server as a program, with a socket in place of the port as its descriptor 3. */
#include <fcntl.h>

#include "exec.h"

/* There is no disable file here. */
int disable_file_fd(void) { return -1; }

int main(void) {
  static char *env[] = {"PATH=/usr/bin:/bin", NULL};
  static const struct config config = {.env = env, .working_directory = "", .user = "", .ip = "127.0.0.1"};
  fcntl(3, F_SETFL, O_NONBLOCK);
  exec_serve(3, &config);
}
