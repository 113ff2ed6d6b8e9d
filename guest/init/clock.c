#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "init.h"

/* From <linux/random.h>, which musl-gcc does not find. */
#define RNDADDENTROPY _IOW('R', 0x03, int[2])
#define RNDRESEEDCRNG _IO('R', 0x07)
struct rand_pool_info {
  int entropy_count; /* bits */
  int buf_size;      /* bytes */
};

/*
 * Guests that are copies of one template or one snapshot begin with the same random pool. So each guest
 * mixes in random bytes of its own. A guest from a template does so before its application is started.
 */
void reseed_random(const char *entropy, size_t length) {
  struct {
    struct rand_pool_info info;
    char bytes[MAX_ENTROPY_BYTES];
  } pool;
  if (length == 0 || length > sizeof pool.bytes) die("expected 1 to %d random bytes for this guest, got %zu", MAX_ENTROPY_BYTES, length);
  /* It stays open for the next time, when the application waits for the end of this. */
  static int fd = -1;
  if (fd < 0) fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
  if (fd < 0) die("no /dev/urandom");
  pool.info.entropy_count = (int)length * 8;
  pool.info.buf_size = (int)length;
  memcpy(pool.bytes, entropy, length);
  if (ioctl(fd, RNDADDENTROPY, &pool) < 0 || ioctl(fd, RNDRESEEDCRNG) < 0) die("can not seed the random pool");
  explicit_bzero(&pool, sizeof pool);
}

void set_clock_ns(long long ns) {
  struct timespec now = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
  clock_settime(CLOCK_REALTIME, &now);
}
