/*
 * What a guest may print: a burst, then a steady rate. Beyond it the keeper does not read, the VMM does not take,
 * and the application waits in its write. So endless printing costs neither disk, memory nor the host's CPU.
 */
#include "keeper.h"

#define BURST_BYTES (4LL << 20)
#define BYTES_PER_MS 2048LL

static long long allowance = BURST_BYTES;
static long long refilled_at_ms;
static bool lifted;

bool meter_allows(void) {
  long long now = now_ms();
  allowance += (now - refilled_at_ms) * BYTES_PER_MS;
  if (refilled_at_ms == 0 || allowance > BURST_BYTES) allowance = BURST_BYTES;
  refilled_at_ms = now;
  return lifted || allowance > 0;
}

void meter_count(size_t bytes) { allowance -= (long long)bytes; }

/* Once the application has ended, what is left is small and should not delay the end. */
void meter_lift(void) { lifted = true; }
