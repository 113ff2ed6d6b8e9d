#include <stdio.h>
#include <time.h>

#include "keeper.h"

static long long read_ms(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

long long now_ms(void) { return read_ms(CLOCK_MONOTONIC); }
long long boot_ms(void) { return read_ms(CLOCK_BOOTTIME); }

/* Node can not read this clock, so an agent asks here once how far it is from one that Node can read. */
int clock_main(void) {
  printf("%lld\n", boot_ms());
  return 0;
}
