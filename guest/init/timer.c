/*
 * Whether the kernel has a timer that it can trust.
 *
 * Linux learns the rate of the processor's timer early in its boot: it lets a tenth of a second pass on its
 * clock and looks how far the timer counted. If the host does not run the emulator for a while just then,
 * the result is wrong. If the timer seems to have hardly counted, the kernel goes on without one. If it
 * seems to have counted too far, every wait takes that many times as long. The boot itself needs no timer.
 * So such a guest would become ready, and its application would run and answer, but it would never come back
 * from a wait, or much too late. Every copy of it would be the same.
 *
 * The true rate is known: the timer of a QEMU machine counts every nanosecond, and Linux divides that by 16.
 * The kernel shows the rate that it found as `mult` in /proc/timer_list: the counts of a nanosecond, shifted
 * by 32 bits. Under KVM the timer is usually another one, `lapic-deadline`, which is not measured.
 */
#include <stdio.h>
#include <string.h>

#include "init.h"

#define TRUE_MULT ((1ULL << 32) / 16)
/*
 * The bounds are wide, because a busy host makes most measurements a little wrong, and another boot there
 * would not be better. Waits that take twice as long are the most that is accepted. A timer that is set too
 * short only costs processor time.
 */
#define MOST_MULT (TRUE_MULT * 2)
#define LEAST_MULT (TRUE_MULT / 4)

bool timer_is_right(void) {
  FILE *list = fopen("/proc/timer_list", "re");
  if (list == NULL) return true;
  char line[160];
  bool measured = false;
  unsigned long long mult = TRUE_MULT;
  while (fgets(line, sizeof line, list) != NULL) {
    if (strncmp(line, "Clock Event Device: ", 20) == 0) measured = strcmp(line + 20, "lapic\n") == 0;
    else if (measured && sscanf(line, " mult: %llu", &mult) == 1) break;
  }
  fclose(list);
  return mult >= LEAST_MULT && mult <= MOST_MULT;
}
