/*
 * keeper: the parent of one virtual machine. It lives as long as the VM does, whatever becomes of the agent that
 * started it, and leaves on disk what an agent needs to know.
 *
 *   keeper run key=value... -- <qemu> <arguments...>     see options.c
 *   keeper ram <MiB>                                     see ram.c
 *
 * Standard input is the guest's configuration, `<length>\n<records>`; descriptors 3 to 19 are handed on to the VMM.
 * In the directory of the VM it keeps:
 *   keeper.sock   where an agent listens and commands; that it accepts means that the VM lives
 *   events        one line per observation, `<µs since the epoch> <what> ...`, see events.c
 *   vmm.log       the first part of what the VMM had to complain about
 *
 * The VMM dies with the keeper (parent death signal), so there is never a VM that nobody watches.
 */
#ifndef ROOST_KEEPER_H
#define ROOST_KEEPER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The VMM's ends of the channels; src/host/vmm/command-line.ts has the same numbers. */
#define VMM_CONSOLE_FD 20
#define VMM_LOG_FD 21
#define VMM_CONTROL_FD 22
#define VMM_MONITOR_FD 23

enum guest_kind { GUEST_CONTAINER, GUEST_KERNEL };

struct options {
  const char *directory;
  const char *console_directory;
  const char *cgroup; /* NULL: none */
  long uid, gid, address_space_mb; /* uid -1: stay who we are; address_space_mb 0: no limit */
  long incoming_fd;                /* the state to continue from; -1: none, the VM boots */
  enum guest_kind kind;
  char **command;
};
bool options_parse(struct options *options, char **arguments);

/* events.c */
bool events_open(int directory_fd);
void event(const char *format, ...) __attribute__((format(printf, 1, 2)));
void events_sync(void);
/* All lines so far, to greet an agent with. */
const char *events_text(size_t *length);

/* console.c */
bool console_open(const char *directory);
void console_write(const char *bytes, size_t length);

/* meter.c: how much a guest may print. */
bool meter_allows(void);
void meter_count(size_t bytes);
void meter_lift(void);

/* vm.c */
struct vm {
  pid_t pid;
  int console_fd, log_fd, control_fd, monitor_fd, error_fd;
};
bool vm_start(struct vm *vm, const struct options *options);
void keeper_drop_privileges(void);

/* guest.c: the control channel, and the application's output as far as the end depends on it. */
void guest_open(int fd, enum guest_kind kind);
bool guest_set_config(int from_fd);
void guest_read(void);
void guest_write(void);
bool guest_wants_write(void);
void guest_log_received(size_t bytes);
void guest_shutdown(long long grace_ms);
/* When the VM must be killed because the guest did not end it, in ms of now_ms(); -1: never. */
long long guest_deadline_ms(void);

/* monitor.c: QMP. */
void monitor_open(int fd, long incoming_fd);
void monitor_read(void);
void monitor_power_down(void);
bool monitor_finds_vm_stuck(void);

/* control.c: agents. */
bool control_open(void);
size_t control_poll(struct pollfd *slots);
void control_handle(const struct pollfd *slots, size_t count);
void control_broadcast(const char *line, size_t length);

/* main.c */
long long now_ms(void);
void kill_vm(void);
void power_down(void);

int ram_main(const char *size_mb);

#define MAX_CLIENTS 4

#endif
