/*
 * Holds the TAP devices of instances in standby, so that their peers can find them and their first packet is
 * noticed.
 *
 * Each agent has one process,
 * `peer-watch <MAC of the bridge> <address of the host> <network of all hosts> [<uid>]`.
 * Orders come as lines on stdin:
 *   watch <tap> <IPv4> <MAC>   take the device, as soon as nobody else has it; repeated: report the next packet too
 *   leave <tap>                give the device back
 *   gateways                   forget the gateways of other machines
 *   gateway <IPv4>             another machine has a gateway with this address
 * The first two are answered, in any order, on stdout:
 *   watching <tap> | refused <tap> <why> | packet <tap> | left <tap>
 *
 * The process answers ARP for the address. It reports the first IPv4 packet from another instance, of this
 * host or of another one: what comes from other hosts, the host forwards. It drops all packets from
 * instances; their sender repeats them. It also drops what the host itself sends, and sends
 * no answer. So connections stay open, because nobody answers with a reset. The process ends when stdin
 * ends, so it holds no device for an agent that has ended.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/ip.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/if_tun.h and linux/capability.h, which are not part of the C library. */
#define TUNSETIFF _IOW('T', 202, int)
#define IFF_TAP 0x0002
#define IFF_NO_PI 0x1000
#define CAP_NET_ADMIN 12
#define CAPABILITY_VERSION_3 0x20080522
struct capability_head {
  uint32_t version;
  int pid;
};
struct capability_set {
  uint32_t effective, permitted, inheritable;
};

enum {
  /* The most devices that are watched at once. The kernel allows 1023 ports on a bridge. */
  MAX_SLEEPERS = 1024,
  /*
   * The wait between two tries to take a device. A VM that ends holds its device some milliseconds longer.
   */
  RETRY_MS = 10,
  /*
   * The most frames that are read from one device in a turn, so that a device under load does not delay the
   * others.
   */
  FRAMES_PER_TURN = 32,
  EVENTS_PER_TURN = 64,
  MAX_LINE = 128,
  /* As many as there can be hosts. */
  MAX_GATEWAYS = 1024,
  /*
   * The longest frame. With offloads that a VM left switched on, a frame may be as long as an IPv4 packet
   * can be.
   */
  MAX_FRAME = 65536 + 64,
};

struct sleeper {
  char tap[IFNAMSIZ];
  uint32_t address;
  uint8_t mac[ETH_ALEN];
  int fd; /* -1: not taken yet */
  bool used;
  bool told;
};

struct __attribute__((packed)) arp_frame {
  struct ether_header ethernet;
  struct arphdr head;
  uint8_t sender_mac[ETH_ALEN];
  uint32_t sender_address;
  uint8_t target_mac[ETH_ALEN];
  uint32_t target_address;
};

static struct sleeper sleepers[MAX_SLEEPERS];
static int waiting;
static int epoll_fd;
static uint8_t bridge_mac[ETH_ALEN];
static uint32_t host_address;
static uint32_t network, network_mask;
static uint32_t gateways[MAX_GATEWAYS];
static int gateway_count;
static uint8_t frame[MAX_FRAME];

static const uint8_t everybody[ETH_ALEN] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void die(const char *what) {
  fprintf(stderr, "peer-watch: %s: %s\n", what, strerror(errno));
  exit(1);
}

static bool parse_mac(const char *text, uint8_t mac[ETH_ALEN]) {
  char rest;
  return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", mac, mac + 1, mac + 2, mac + 3, mac + 4, mac + 5,
                &rest) == 6;
}

/* Reads a network such as 10.64.0.0/10. */
static bool parse_network(const char *text) {
  char address[INET_ADDRSTRLEN];
  unsigned length;
  if (sscanf(text, "%15[0-9.]/%2u", address, &length) != 2 || length < 1 || length > 32) return false;
  network_mask = htonl(UINT32_MAX << (32 - length));
  return inet_pton(AF_INET, address, &network) == 1;
}

/* Drops all rights of root except CAP_NET_ADMIN, which is needed to take a device of another user. */
static void drop_privileges(uid_t uid) {
  struct capability_head head = {.version = CAPABILITY_VERSION_3};
  struct capability_set sets[2] = {0};
  sets[0].effective = sets[0].permitted = 1u << CAP_NET_ADMIN;
  if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0) die("user");
  if (syscall(SYS_capset, &head, sets) < 0) die("capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) die("no new privileges");
}

static struct sleeper *find(const char *tap) {
  for (int i = 0; i < MAX_SLEEPERS; i++)
    if (sleepers[i].used && strcmp(sleepers[i].tap, tap) == 0) return &sleepers[i];
  return NULL;
}

static struct sleeper *free_place(void) {
  for (int i = 0; i < MAX_SLEEPERS; i++)
    if (!sleepers[i].used) return &sleepers[i];
  return NULL;
}

static void send_arp(const struct sleeper *sleeper, uint16_t operation, const uint8_t *to_mac, uint32_t to_address) {
  struct arp_frame reply = {0};
  memcpy(reply.ethernet.ether_dhost, to_mac, ETH_ALEN);
  memcpy(reply.ethernet.ether_shost, sleeper->mac, ETH_ALEN);
  reply.ethernet.ether_type = htons(ETHERTYPE_ARP);
  reply.head.ar_hrd = htons(ARPHRD_ETHER);
  reply.head.ar_pro = htons(ETHERTYPE_IP);
  reply.head.ar_hln = ETH_ALEN;
  reply.head.ar_pln = sizeof to_address;
  reply.head.ar_op = htons(operation);
  memcpy(reply.sender_mac, sleeper->mac, ETH_ALEN);
  reply.sender_address = sleeper->address;
  memcpy(reply.target_mac, to_mac, ETH_ALEN);
  reply.target_address = to_address;
  /* If the reply is lost, the peer asks again. */
  if (write(sleeper->fd, &reply, sizeof reply) < 0 && errno != EAGAIN)
    fprintf(stderr, "peer-watch: %s: %s\n", sleeper->tap, strerror(errno));
}

static void let_go(struct sleeper *sleeper) {
  if (sleeper->fd >= 0) close(sleeper->fd);
  else waiting--;
  sleeper->used = false;
}

static void refuse(struct sleeper *sleeper) {
  printf("refused %s %s\n", sleeper->tap, strerror(errno));
  let_go(sleeper);
}

static void take(struct sleeper *sleeper) {
  struct ifreq wanted = {0};
  int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return refuse(sleeper);
  memcpy(wanted.ifr_name, sleeper->tap, IFNAMSIZ);
  /* The device must exist: for an unknown name the ioctl would make a new device. */
  wanted.ifr_flags = IFF_TAP | IFF_NO_PI;
  errno = ENODEV;
  if (if_nametoindex(sleeper->tap) == 0 || ioctl(fd, TUNSETIFF, &wanted) < 0) {
    int why = errno;
    close(fd);
    errno = why;
    if (why == EBUSY) return;
    return refuse(sleeper);
  }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = sleeper};
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) die("epoll");
  sleeper->fd = fd;
  waiting--;
  printf("watching %s\n", sleeper->tap);
  /* Tells the bridge where the address is, so that packets to it are not copied to every peer. */
  send_arp(sleeper, ARPOP_REQUEST, everybody, sleeper->address);
}

static void watch(const char *tap, const char *address, const char *mac) {
  struct sleeper *sleeper = find(tap);
  if (sleeper == NULL) {
    sleeper = free_place();
    if (sleeper == NULL) {
      printf("refused %s too many\n", tap);
      return;
    }
    *sleeper = (struct sleeper){.fd = -1, .used = true};
    snprintf(sleeper->tap, sizeof sleeper->tap, "%s", tap);
    waiting++;
  }
  sleeper->told = false;
  if (inet_pton(AF_INET, address, &sleeper->address) != 1 || !parse_mac(mac, sleeper->mac)) {
    errno = EINVAL;
    refuse(sleeper);
  } else if (sleeper->fd < 0) take(sleeper);
  else printf("watching %s\n", tap);
}

static void add_gateway(const char *address) {
  if (gateway_count == MAX_GATEWAYS || inet_pton(AF_INET, address, &gateways[gateway_count]) != 1)
    fprintf(stderr, "peer-watch: %s can not be a gateway's address\n", address);
  else gateway_count++;
}

static void obey(char *line) {
  char tap[IFNAMSIZ], address[INET_ADDRSTRLEN], mac[18];
  if (sscanf(line, "watch %15s %15s %17s", tap, address, mac) == 3) watch(tap, address, mac);
  else if (sscanf(line, "leave %15s", tap) == 1) {
    struct sleeper *sleeper = find(tap);
    if (sleeper != NULL) let_go(sleeper);
    printf("left %s\n", tap);
  } else if (strcmp(line, "gateways") == 0) gateway_count = 0;
  else if (sscanf(line, "gateway %15s", address) == 1) add_gateway(address);
  else fprintf(stderr, "peer-watch: not understood: %s\n", line);
}

static void read_orders(void) {
  static char text[MAX_LINE * EVENTS_PER_TURN];
  static size_t length;
  ssize_t got = read(STDIN_FILENO, text + length, sizeof text - 1 - length);
  if (got == 0) exit(0);
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) return;
    die("orders");
  }
  length += (size_t)got;
  text[length] = '\0';
  char *line = text;
  for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = '\0';
    obey(line);
  }
  length -= (size_t)(line - text);
  if (length > MAX_LINE) die("an order is too long");
  memmove(text, line, length);
}

/* Whether the address is one of an instance, on whatever host. */
static bool is_instance(uint32_t address) {
  if ((address & network_mask) != network || address == host_address) return false;
  for (int i = 0; i < gateway_count; i++)
    if (gateways[i] == address) return false;
  return true;
}

static void look_at(struct sleeper *sleeper, size_t length) {
  const struct ether_header *ethernet = (const struct ether_header *)frame;
  if (length < sizeof *ethernet) return;
  if (ethernet->ether_type == htons(ETHERTYPE_ARP) && length >= sizeof(struct arp_frame)) {
    const struct arp_frame *asked = (const struct arp_frame *)frame;
    if (asked->head.ar_op == htons(ARPOP_REQUEST) && asked->target_address == sleeper->address &&
        asked->sender_address != sleeper->address)
      send_arp(sleeper, ARPOP_REPLY, asked->sender_mac, asked->sender_address);
    return;
  }
  const struct iphdr *ip = (const struct iphdr *)(frame + sizeof *ethernet);
  bool from_peer = ethernet->ether_type == htons(ETHERTYPE_IP) && length >= sizeof *ethernet + sizeof *ip &&
                   memcmp(ethernet->ether_dhost, sleeper->mac, ETH_ALEN) == 0 &&
                   (memcmp(ethernet->ether_shost, bridge_mac, ETH_ALEN) != 0 || is_instance(ip->saddr));
  if (!from_peer || sleeper->told) return;
  sleeper->told = true;
  printf("packet %s\n", sleeper->tap);
}

static void read_frames(struct sleeper *sleeper) {
  for (int i = 0; i < FRAMES_PER_TURN; i++) {
    ssize_t length = read(sleeper->fd, frame, sizeof frame);
    if (length < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      /* The device was deleted. */
      return refuse(sleeper);
    }
    look_at(sleeper, (size_t)length);
  }
}

int main(int argc, char **argv) {
  if (argc < 4 || !parse_mac(argv[1], bridge_mac) || inet_pton(AF_INET, argv[2], &host_address) != 1 ||
      !parse_network(argv[3])) {
    fprintf(stderr, "usage: peer-watch <MAC of the bridge> <address of the host> <network of all hosts> [<uid>]\n");
    return 2;
  }
  if (argc > 4) drop_privileges((uid_t)strtoul(argv[4], NULL, 10));
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event orders = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, STDIN_FILENO, &orders) < 0) die("epoll");
  for (;;) {
    struct epoll_event events[EVENTS_PER_TURN];
    int ready = epoll_wait(epoll_fd, events, EVENTS_PER_TURN, waiting > 0 ? RETRY_MS : -1);
    if (ready < 0 && errno != EINTR) die("epoll");
    bool ordered = false;
    for (int i = 0; i < ready; i++) {
      struct sleeper *sleeper = events[i].data.ptr;
      if (sleeper == NULL) ordered = true;
      else if (sleeper->used && sleeper->fd >= 0) read_frames(sleeper);
    }
    /*
     * Orders come after the frames, because an order may free a sleeper to which one of the events belongs.
     */
    if (ordered) read_orders();
    for (int i = 0; waiting > 0 && i < MAX_SLEEPERS; i++)
      if (sleepers[i].used && sleepers[i].fd < 0) take(&sleepers[i]);
    fflush(stdout);
  }
}
