#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init.h"

static void set_address(int socket_fd, unsigned long request, const char *interface, in_addr_t address) {
  struct ifreq wanted = {0};
  strncpy(wanted.ifr_name, interface, IFNAMSIZ - 1);
  struct sockaddr_in *in = (struct sockaddr_in *)&wanted.ifr_addr;
  in->sin_family = AF_INET;
  in->sin_addr.s_addr = address;
  if (ioctl(socket_fd, request, &wanted) < 0) say("network: %s: %s", interface, strerror(errno));
}

static void set_up(int socket_fd, const char *interface) {
  struct ifreq wanted = {0};
  strncpy(wanted.ifr_name, interface, IFNAMSIZ - 1);
  wanted.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(socket_fd, SIOCSIFFLAGS, &wanted) < 0) say("network: %s: %s", interface, strerror(errno));
}

static void set_mac(int socket_fd, const char *interface, const char *mac) {
  struct ifreq wanted = {0};
  strncpy(wanted.ifr_name, interface, IFNAMSIZ - 1);
  wanted.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  unsigned char *to = (unsigned char *)wanted.ifr_hwaddr.sa_data;
  if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", to, to + 1, to + 2, to + 3, to + 4, to + 5) != 6) return;
  if (ioctl(socket_fd, SIOCSIFHWADDR, &wanted) < 0) say("network: address %s: %s", mac, strerror(errno));
}

static void set_default_route(int socket_fd, const char *gateway) {
  struct rtentry route = {0};
  struct sockaddr_in *to = (struct sockaddr_in *)&route.rt_gateway;
  to->sin_family = AF_INET;
  to->sin_addr.s_addr = inet_addr(gateway);
  ((struct sockaddr_in *)&route.rt_dst)->sin_family = AF_INET;
  ((struct sockaddr_in *)&route.rt_genmask)->sin_family = AF_INET;
  route.rt_flags = RTF_UP | RTF_GATEWAY;
  if (ioctl(socket_fd, SIOCADDRT, &route) < 0) say("network: route by %s: %s", gateway, strerror(errno));
}

void network_configure(const struct config *config) {
  int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) die("no socket: %s", strerror(errno));
  set_up(socket_fd, "lo");
  if (config->ip != NULL) {
    /* The device has this MAC already, unless the guest was copied from a template. */
    if (config->mac != NULL) set_mac(socket_fd, "eth0", config->mac);
    int prefix_length = config->prefix_length > 0 && config->prefix_length <= 32 ? config->prefix_length : 24;
    set_address(socket_fd, SIOCSIFADDR, "eth0", inet_addr(config->ip));
    set_address(socket_fd, SIOCSIFNETMASK, "eth0", htonl(0xffffffffu << (32 - prefix_length)));
    set_up(socket_fd, "eth0");
    if (config->gateway != NULL) set_default_route(socket_fd, config->gateway);
  }
  close(socket_fd);
}
