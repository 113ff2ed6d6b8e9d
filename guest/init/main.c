#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "init.h"

#define SYSLOG_CONSOLE_LEVEL 8
#define SHOW_ERRORS 4

static void receive_config(struct config *config) {
  long long number;
  while (!parse_command(channel_wait_line(), "config", &number)) continue;
  if (number > MAX_CONFIG_BYTES) die("configuration of %lld bytes", number);
  size_t length = (size_t)number;
  char *records = malloc(length + 1);
  if (records == NULL) die("no memory for the configuration");
  channel_read_exactly(records, length);
  if (!config_parse(config, records, length)) die("configuration not understood");
}

static void receive_time(void) {
  long long ns;
  channel_send("time?\n");
  while (!parse_command(channel_wait_line(), "time", &ns)) continue;
  set_clock_ns(ns);
}

static void open_console(void) {
  int fd = open("/dev/console", O_RDWR | O_CLOEXEC);
  for (int target = 0; target < 3; target++) {
    if (fd != target) dup2(fd, target);
  }
  if (fd > 2) close(fd);
}

int main(void) {
  struct config config;
  signal(SIGPIPE, SIG_IGN);
  mount_kernel_file_systems();
  open_console();
  /*
   * The host notices after two seconds that the guest stands still, and boots it again
   * (src/host/vmm/still-guest.ts).
   */
  if (!timer_is_right()) stand_still();
  load_modules("/modules/before");
  channel_open();
  channel_send("ready\n");

  receive_config(&config);
  receive_time();
  reseed_random(config.entropy, config.entropy_bytes);
  /*
   * These drivers come only now: they must read size and features from this machine's devices, not a
   * template's.
   */
  load_modules("/modules/after");
  network_configure(&config);
  root_enter();
  root_write_host_files(&config);
  disable_file_open();
  volume_mount(&config);

  /*
   * The boot prints nothing to the console. From here on the user should see the kernel's errors, for
   * example that memory ran out.
   */
  klogctl(SYSLOG_CONSOLE_LEVEL, NULL, SHOW_ERRORS);

  int output[2];
  if (pipe2(output, O_CLOEXEC) < 0) die("no pipe: %s", strerror(errno));
  output_open(output[0]);
  int exit_code;
  pid_t application = application_start(&config, output[1], &exit_code);
  if (application < 0) finish("code", exit_code, false, false);
  char line[32];
  snprintf(line, sizeof line, "app %d\n", (int)application);
  channel_send(line);
  close(output[1]);
  /*
   * Making the reserve's processes takes a few milliseconds. If that came before the application's start, it
   * would delay the application. Memory does not run out in these few milliseconds.
   */
  reserve_keep();
  supervise(application, &config);
}
