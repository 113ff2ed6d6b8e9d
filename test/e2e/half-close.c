/*
 * Takes one connection at the port that it is given: sends a line, ends its direction, and then prints
 * how many bytes came in the other one.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char **words) {
  static char bytes[4096];
  long total = 0;
  int listening = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(words[1]) : 0)};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listening, (struct sockaddr *)&at, sizeof at) < 0 || listen(listening, 1) < 0) return 1;
  puts("ready");
  fflush(stdout);
  int client = accept(listening, NULL, NULL);
  if (write(client, "first\n", 6) != 6 || shutdown(client, SHUT_WR) < 0) return 2;
  for (ssize_t got; (got = read(client, bytes, sizeof bytes)) > 0;) total += got;
  printf("%ld\n", total);
  return 0;
}
