/*
 * Limits how much a guest may send: a burst, then a steady rate. Beyond that the keeper does not read, so
 * the VMM does not take more, and the guest waits in its write. Nothing is lost, and endless output costs
 * neither disk, memory nor the host's CPU.
 */
#include "keeper.h"

struct meter {
  long long burst_bytes, bytes_per_ms;
  long long spent_bytes, spent_at_ms;
};

/* The limit for what the guest prints. */
static struct meter output = {.burst_bytes = 4LL << 20, .bytes_per_ms = 2048};
/*
 * The limit for the control channel. The platform's init needs some hundred bytes for a start, and about a
 * hundred per second if its application does nothing but change its mind about standby. A kernel of the
 * user's own may write there whatever it likes.
 */
static struct meter words = {.burst_bytes = 16384, .bytes_per_ms = 8};
static bool output_lifted;

static bool allows(struct meter *meter) {
  long long now = now_ms();
  meter->spent_bytes -= (now - meter->spent_at_ms) * meter->bytes_per_ms;
  if (meter->spent_bytes < 0) meter->spent_bytes = 0;
  meter->spent_at_ms = now;
  return meter->spent_bytes < meter->burst_bytes;
}

bool meter_allows_output(void) { return allows(&output) || output_lifted; }
void meter_count_output(size_t bytes) { output.spent_bytes += (long long)bytes; }

/*
 * Lifts the limit once the application has ended: the rest of its output is small and should not delay the
 * end.
 */
void meter_lift_output(void) { output_lifted = true; }

bool meter_allows_words(void) { return allows(&words); }
void meter_count_words(size_t bytes) { words.spent_bytes += (long long)bytes; }
