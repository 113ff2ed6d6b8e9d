/*
 * keeper: the parent of one virtual machine. It lives as long as the VM does, whatever becomes of the agent
 * that started it, and leaves on disk what an agent needs to know.
 *
 *   keeper run key=value... -- <qemu> <arguments...>     see options.c
 *   keeper ram <MiB>                                     see ram.c
 *   keeper wait <qemu> <control group>...                see waiting.c
 *   keeper enter <control group>... -- <command>         see group.c
 *   keeper transient key=value... -- <qemu> <arguments...>  see transient.c
 *   keeper jail <qemu>                                   see jail.c
 *
 * Standard input is the guest's configuration, `<length>\n<records>`; descriptors 3 to 19 are handed on to
 * the VMM. In the directory of the VM it keeps:
 *   keeper.sock   where an agent listens and commands; that it accepts means that the VM lives
 *   events        one line per observation, `<µs since the epoch> <what> ...`, see events.c
 *   vmm.log       the first part of what the VMM had to complain about
 *
 * The VMM dies with the keeper (init.c, or a parent death signal), so there is never a VM that nobody
 * watches.
 */
#ifndef ROOST_KEEPER_H
#define ROOST_KEEPER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From <linux/capability.h>, which the C library does not bring. */
#define CAP_KILL 5

/* The VMM's ends of the channels; src/host/vmm/command-line.ts has the same numbers. */
#define VMM_CONSOLE_FD 20
#define VMM_LOG_FD 21
#define VMM_CONTROL_FD 22
#define VMM_MONITOR_FD 23
/* Its network device. */
#define VMM_TAP_FD 24
/* Namespaces that a waiting keeper has made ahead. */
#define JAIL_NETWORK_FD 25
#define JAIL_IPC_FD 26
#define JAIL_FILES_FD 27

enum guest_kind { GUEST_CONTAINER, GUEST_KERNEL };

struct options {
  const char *directory;
  const char *console_directory;
  const char *tap;    /* the network device that the VMM is given; NULL: none */
  long uid, gid, address_space_mb; /* uid -1: stay who we are; address_space_mb 0: no limit */
  long keeper_uid;                 /* whom the keeper itself becomes; -1: it stays who it is */
  long incoming_fd;                /* the state to continue from; -1: none, the VM boots */
  long volume_fd;                  /* the VMM's alone once it runs: it is locked for as long as anybody has it; -1: none */
  bool from_snapshot;              /* it is the instance's own, with its memory; else a template's */
  /* What the keeper before knew of a guest that goes on from its snapshot; disabled -1: nothing. */
  long output, listening, disabled;
  enum guest_kind kind;
  char **command;
};
bool options_parse(struct options *options, char **arguments);

/*
 * The files stand here in layers, the lowest first: a file calls those above it in this list, and never one
 * below. Where a low one has something to tell, a higher one asks for it, or has given it a function to call
 * (events_listen).
 */

/* lines.c: the one reader of lines. Reads once; a line that does not fit is dropped. */
struct lines {
  size_t length;
  size_t taken; /* by the last read */
  char bytes[8192];
};
enum lines_end { LINES_READ, LINES_PENDING, LINES_CLOSED, LINES_TOO_LONG };
enum lines_end lines_read(int fd, struct lines *lines, void (*take)(const char *line, void *context), void *context);

/* clock.c: the monotonic clock. */
long long now_ms(void);

/* files.c */
bool files_open(const char *console_path);
int files_console_directory(void);
bool files_is_ours(int fd);
/* From now on somebody else does it, who is told here. */
void files_order_from(int fd);
/* Carries one order out; false: nobody is left to give any. */
bool files_serve(int from_fd);
bool files_order_end(void);
int files_open_segment(long long start);
void files_drop_segment(long long start);
int files_open_memory(void);
void files_drop_memory(void);
bool files_publish(const char *text, size_t length);

/* meter.c: how much a guest may print, and say over the control channel. */
bool meter_allows_output(void);
void meter_count_output(size_t bytes);
void meter_lift_output(void);
bool meter_allows_words(void);
void meter_count_words(size_t bytes);

/* console.c */
bool console_open(void);
void console_write(const char *bytes, size_t length);

/* group.c */
bool group_enter(const char *directory);
void group_offer_to_killer(const char *score);
/* Of oom_score_adj: before a VM's keeper goes the VM, and before the platform both. */
#define VMM_KILL_SCORE "500"
#define KEEPER_KILL_SCORE "100"

/* events.c */
bool events_open(int directory_fd);
/* Who is told each event, and what is said of the moment. */
void events_listen(void (*take)(const char *line, size_t length));
void event(const char *format, ...) __attribute__((format(printf, 1, 2)));
void events_sync(void);
/* All lines so far, to greet an agent with. */
const char *events_text(size_t *length);
/* Tells the agents that are there, and keeps nothing. */
void events_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* outbox.c: what is to be sent over the control channel. */
void outbox_open(int control_fd);
/* `<length>\n<records>`; false where there is less than announced. */
bool outbox_set_config(int from_fd);
/* In a process that is not to know the configuration. */
void outbox_forget(void);
void outbox_send(const char *line);
/* Something is not sent yet. */
bool outbox_waits(void);
void outbox_write(void);

/* privileges.c */
/* All capabilities but those in the mask. */
void drop_capabilities(uint32_t kept);
void drop_bounding_set(void);
/* Both, where this process is root's, and no way back. */
void give_up_root(uint32_t kept);

/* jail.c */
void jail_prepare(const char *program);
void jail_close_on_exec(void);
bool jail_enter(void);
void jail_leave_host(void);
int jail_main(const char *program);

/* init.c */
struct init_ends {
  int status_fd, orders_fd;
  int keeper_status_fd, keeper_orders_fd; /* the keeper's ends, which are not ours */
};
struct init_report {
  int status;
  long long cpu_us;
};
/*
 * The first process of a VM's namespace. Returns in the process that is to become the VMM, and nowhere else.
 */
void init_run(struct init_ends ends);
/* The VMM's process, as the keeper numbers it; 0: it did not come to that. */
pid_t init_await_vmm(int keeper_fd);

/* vm.c */
struct vm {
  pid_t pid;   /* the VMM */
  pid_t child; /* ours: the first process of its namespace, or else the VMM */
  int status_fd; /* what that process tells; -1: there is none */
  int orders_fd; /* what it is told */
  int console_fd, log_fd, control_fd, monitor_fd, error_fd;
};
/* The VMM's ends of what is between it and us. */
struct vmm_ends {
  int channels[4]; /* in the order of their numbers, VMM_CONSOLE_FD first */
  int error_fd;
};
bool vm_start(struct vm *vm, const struct options *options);
/* theirs NULL: the VMM gets the channels that we were started with. */
bool vm_fork(struct vm *vm, const struct options *options, const struct vmm_ends *theirs);
void vm_kill(struct vm *vm);
/* Reads how it ended; cpu_us: what it has used of processors. */
bool vm_wait(struct vm *vm, int *status, long long *cpu_us);
/* Nothing is left of it. */
void vm_close(struct vm *vm);
void keeper_drop_privileges(const struct vm *vm, const struct options *options);

/* machine.c: the VM as one machine. */
enum machine_change { MACHINE_RUNS, MACHINE_PAUSED, MACHINE_SHUT_DOWN, MACHINE_STUCK };
void machine_open(struct vm *vm, const struct options *options);
void machine_note(enum machine_change change);
void machine_kill(void);
void machine_power_down(void);
/* Commands of QMP. */
void machine_command(const char *text);
void machine_command_with_fd(const char *text, int passed_fd);
bool machine_runs(void);
bool machine_has_shut_down(void);
bool machine_is_stuck(void);
/* One of both. */
bool machine_ended(void);
/* That traffic may come, once and not before the CPUs run. */
void machine_tell_running(void);

/* guest.c: the control channel, and the application's output as far as the end depends on it. */
void guest_open(int fd, const struct options *options);
/* False once the VMM has closed the channel, or its half of it. */
bool guest_read(void);
/* Bytes that it has said so far. */
long long guest_words(void);
void guest_log_received(size_t bytes);
void guest_shutdown(long long grace_ms);
void guest_ask_to_sleep(void);
void guest_awake(void);
/* Neither has it ended nor was it asked to. */
bool guest_may_suspend(void);
/* What the next keeper has to know, as one line; returns its length. */
int guest_describe(char *text, size_t size);
/* For a guest that goes on from its snapshot: clock, random bytes, the end of its rest. */
void guest_greet(void);
/* Its clock is right; one that goes on from its snapshot has said so, or not found the time to. */
bool guest_is_awake(void);
int guest_wake_wait_ms(void);
void guest_wake_tick(void);
/* -1: it never said. */
int guest_disabled(void);
/* Until agents are told what it has said last; -1: they know. */
int guest_tell_wait_ms(void);
void guest_tell_tick(void);
/* When the VM must be killed because the guest did not end it, in ms of now_ms(); -1: never. */
long long guest_deadline_ms(void);

/* output.c */
void output_open(const struct vm *vm);
/* -1 once it is closed. */
int output_console_fd(void);
int output_log_fd(void);
void output_take_console(void);
void output_take_log(void);
/* Takes what the VMM has sent of the guest's, throttled or not. */
void output_collect(void);
/* Bytes so far. */
long long output_received(void);

/* suspend.c */
void suspend_begin(void);
void suspend_settle(void);
void suspend_cancel(const char *why);
bool suspend_under_way(void);
bool suspend_is_done(void);
/* A line of the monitor; its VM runs again. */
void suspend_take(const char *line);
void suspend_resumed(void);
int suspend_wait_ms(void);
void suspend_tick(void);

/* stall.c */
/*
 * A VM that stands still for want of room goes on when its disk has more than this free, or more than this
 * share of a smaller disk.
 */
#define STALL_ROOM_BYTES (256ULL << 20)
#define STALL_ROOM_SHARE 8
/* Before the volume is closed; -1: there is none. */
void stall_open(long volume_fd);
bool stall_is_known(void);
/* A line of the monitor; its VM runs again. */
void stall_take(const char *line);
void stall_resumed(void);
int stall_wait_ms(void);
void stall_tick(void);

/* monitor.c: what QMP says. */
void monitor_open(int fd, const struct options *options);
/* False once the VMM has closed it. */
bool monitor_read(void);

/* control.c: agents. */
bool control_open(void);
size_t control_poll(struct pollfd *slots);
void control_handle(const struct pollfd *slots, size_t count);

int ram_main(const char *size_mb);
int waiting_main(const char *program, char **groups);
int enter_main(char **arguments);
int transient_main(char **arguments);

#define MAX_CLIENTS 4

#endif
