/* Functions with which a process gives up the rights of root. */
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keeper.h"

/* From <linux/capability.h>, which musl-gcc does not find. */
#define CAPABILITY_VERSION 0x20080522
struct capability_header { uint32_t version; int pid; };
struct capability_data { uint32_t effective, permitted, inheritable; };

void drop_capabilities(uint32_t kept) {
  struct capability_header header = {CAPABILITY_VERSION, 0};
  struct capability_data data[2] = {{kept, kept, 0}, {0, 0, 0}};
  syscall(SYS_capset, &header, data);
}

void drop_bounding_set(void) {
  for (unsigned long capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++) continue;
}

void give_up_root(uint32_t kept) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (geteuid() != 0) return;
  drop_bounding_set();
  drop_capabilities(kept);
}
