/*
 * keeper: the parent process of one virtual machine. It lives as long as the VM, even if the agent that
 * started it ends, and leaves on disk what an agent needs to know.
 *
 *   keeper run key=value... -- <qemu> <arguments...>     see options.c
 *   keeper ram <MiB>                                     see ram.c
 *   keeper wait <qemu> <control group>...                see waiting.c
 *   keeper enter <control group>... -- <command>         see group.c
 *   keeper transient key=value... -- <qemu> <arguments...>  see transient.c
 *   keeper jail <qemu>                                   see jail.c
 *   keeper clock                                         see clock.c
 *
 * Standard input is the guest's configuration, `<length>\n<records>`. Descriptors 3 to 19 are handed on to
 * the VMM. The keeper has these files in the directory of the VM:
 *   keeper.sock   the socket on which agents listen and command; if it accepts, the VM lives
 *   exec.sock     the socket on which the VMM accepts agents for the guest's port `exec` (guest/init/exec.h)
 *   events        one line per observation, `<µs since the epoch> <what> ...`, see events.c
 *   vmm.log       the first part of what the VMM wrote to its standard error
 *
 * The VMM dies with the keeper (init.c, or a parent death signal), so there is never a VM without a keeper.
 */
#ifndef ROOST_KEEPER_H
#define ROOST_KEEPER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The number of a capability. It is from <linux/capability.h>, which is not part of the C library. */
#define CAP_KILL 5

/* The VMM's ends of the channels; src/host/vmm/command-line.ts has the same numbers. */
#define VMM_CONSOLE_FD 20
#define VMM_LOG_FD 21
#define VMM_CONTROL_FD 22
#define VMM_MONITOR_FD 23
/* The descriptor of the VMM's network device. */
#define VMM_TAP_FD 24
/* The socket on which the VMM accepts the agent that speaks with the guest's exec server. */
#define VMM_EXEC_FD 28
/* The descriptors of namespaces that a waiting keeper has made ahead. */
#define JAIL_NETWORK_FD 25
#define JAIL_IPC_FD 26
#define JAIL_FILES_FD 27

enum guest_kind { GUEST_CONTAINER, GUEST_KERNEL };

struct options {
  const char *directory;
  const char *console_directory;
  const char *term;   /* the file with the host's term; NULL: it keeps none */
  const char *tap;    /* the network device that the VMM is given; NULL: none */
  /* The VMM's user, group and limit of memory. uid -1: the keeper's user; address_space_mb 0: no limit. */
  long uid, gid, address_space_mb;
  long keeper_uid;                 /* the user that the keeper itself becomes; -1: it keeps its user */
  long incoming_fd;                /* the state from which the VM goes on; -1: none, the VM boots */
  /* The volume's file. Only the running VMM keeps it open, because an open volume is locked; -1: none. */
  long volume_fd;
  bool from_snapshot;              /* the state is the instance's own, with its memory; else a template's */
  /* What the last keeper knew about a guest that goes on from its snapshot; disabled -1: nothing. */
  long output, listening, disabled;
  enum guest_kind kind;
  char **command;
};
bool options_parse(struct options *options, char **arguments);

/*
 * The files are listed here in layers, the lowest first. A file calls files that stand before it in this
 * list, never one that stands after it. If a lower file has something to tell, a higher file asks for it, or
 * gives it a function to call (events_listen).
 */

/* lines.c: reads lines, for all channels. Each call reads once. A line that does not fit is dropped. */
struct lines {
  size_t length;
  size_t taken; /* the bytes that the last read took in */
  char bytes[8192];
};
enum lines_end { LINES_READ, LINES_PENDING, LINES_CLOSED, LINES_TOO_LONG };
enum lines_end lines_read(int fd, struct lines *lines, void (*take)(const char *line, void *context), void *context);

/* clock.c: the monotonic clock, and the one that also counts while the machine is suspended. */
long long now_ms(void);
long long boot_ms(void);

/* files.c */
bool files_open(const char *console_path);
int files_console_directory(void);
bool files_is_ours(int fd);
/* From now on another process carries the orders out. `fd` is the socket over which they are sent. */
void files_order_from(int fd);
/* Carries one order out. Returns false once no process can send orders any more. */
bool files_serve(int from_fd);
bool files_order_end(void);
int files_open_segment(long long start);
void files_drop_segment(long long start);
int files_open_memory(void);
void files_drop_memory(void);
bool files_publish(const char *text, size_t length);

/* meter.c: limits how much a guest may print, and how much it may say over the control channel. */
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
/* Values of oom_score_adj. The kernel kills a VM before its keeper, and both before the platform. */
#define VMM_KILL_SCORE "500"
#define KEEPER_KILL_SCORE "100"

/* events.c */
bool events_open(int directory_fd);
/* Sets the function that gets each line of `event` and of `events_tell`. */
void events_listen(void (*take)(const char *line, size_t length));
void event(const char *format, ...) __attribute__((format(printf, 1, 2)));
void events_sync(void);
/* All lines so far, for an agent that has just connected. */
const char *events_text(size_t *length);
/* Tells the agents that are connected, and records nothing. */
void events_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* outbox.c: lines that are to be sent over the control channel. */
void outbox_open(int control_fd);
/* Reads `<length>\n<records>`. Returns false if fewer bytes come than the length says. */
bool outbox_set_config(int from_fd);
/* Called in a process that must not know the configuration. */
void outbox_forget(void);
void outbox_send(const char *line);
/* Whether some bytes have not been sent yet. */
bool outbox_waits(void);
void outbox_write(void);

/* privileges.c */
/* Drops all capabilities except those in the mask. */
void drop_capabilities(uint32_t kept);
void drop_bounding_set(void);
/* Does both if this process is root, for good. */
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
  int keeper_status_fd, keeper_orders_fd; /* the keeper's ends, which this process closes */
};
struct init_report {
  int status;
  long long cpu_us;
};
/*
 * Runs as the first process of a VM's namespace. Returns only in the process that is to become the VMM.
 */
void init_run(struct init_ends ends);
/* Returns the VMM's process id as the keeper sees it; 0: no VMM was started. */
pid_t init_await_vmm(int keeper_fd);

/* socket.c: listens on a socket of this name in the present directory. Returns -1 if that is impossible. */
int socket_listen(const char *name, int backlog);

/* vm.c */
struct vm {
  pid_t pid;   /* the VMM */
  pid_t child; /* the keeper's child: the first process of the VM's namespace, or else the VMM */
  int status_fd; /* the socket on which that process reports; -1: there is none */
  int orders_fd; /* the socket on which it gets orders */
  int console_fd, log_fd, control_fd, monitor_fd, error_fd;
};
/* The VMM's ends of the channels between the VMM and the keeper. */
struct vmm_ends {
  int channels[4]; /* in the order of their numbers, VMM_CONSOLE_FD first */
  int exec_fd;
  int error_fd;
};
bool vm_start(struct vm *vm, const struct options *options);
/* With `theirs` NULL, the VMM gets the channels with which this process was started. */
bool vm_fork(struct vm *vm, const struct options *options, const struct vmm_ends *theirs);
void vm_kill(struct vm *vm);
/* Reads how the VMM ended, and the processor time that it used. */
bool vm_wait(struct vm *vm, int *status, long long *cpu_us);
/* Waits until nothing of the VM is left. */
void vm_close(struct vm *vm);
void keeper_drop_privileges(const struct vm *vm, const struct options *options);

/* machine.c: the state of the VM as a machine. */
enum machine_change { MACHINE_RUNS, MACHINE_PAUSED, MACHINE_SHUT_DOWN, MACHINE_STUCK };
void machine_open(struct vm *vm, const struct options *options);
void machine_note(enum machine_change change);
void machine_kill(void);
void machine_power_down(void);
/* Sends a QMP command to the VMM. */
void machine_command(const char *text);
void machine_command_with_fd(const char *text, int passed_fd);
bool machine_runs(void);
bool machine_has_shut_down(void);
bool machine_is_stuck(void);
/* Whether the machine has shut down or is stuck. */
bool machine_ended(void);
/* Tells agents that traffic may be sent: once, and not before the CPUs run. */
void machine_tell_running(void);

/* guest.c: the control channel, and the count of the application's output, on which the end depends. */
void guest_open(int fd, const struct options *options);
/* Returns false once the VMM has closed the channel, or its sending half. */
bool guest_read(void);
/* The bytes that the guest has sent so far. */
long long guest_words(void);
void guest_log_received(size_t bytes);
void guest_shutdown(long long grace_ms);
void guest_ask_to_sleep(void);
void guest_awake(void);
/* Whether the guest has neither ended nor been asked to end. */
bool guest_may_suspend(void);
/* Writes what the next keeper has to know about the guest, as one line. Returns the line's length. */
int guest_describe(char *text, size_t size);
/* Sends a guest that goes on from its snapshot the time, random bytes and the end of its rest. */
void guest_greet(void);
/*
 * Whether the guest's clock is right. A guest that goes on from a snapshot has confirmed it, or the time
 * limit for that is over.
 */
bool guest_is_awake(void);
int guest_wake_wait_ms(void);
void guest_wake_tick(void);
/* Whether the guest speaks against standby; -1: it has not said so far. */
int guest_disabled(void);
/* How long until agents have to get the guest's last report on standby; -1: they have it already. */
int guest_tell_wait_ms(void);
void guest_tell_tick(void);
/* The time of now_ms() at which the VM must be killed because the guest did not end it; -1: never. */
long long guest_deadline_ms(void);

/* output.c */
void output_open(const struct vm *vm);
/* These two functions return -1 once the channel is closed. */
int output_console_fd(void);
int output_log_fd(void);
void output_take_console(void);
void output_take_log(void);
/* Reads what the VMM has already sent of the guest's output, even if the guest is throttled. */
void output_collect(void);
/* The bytes of output so far. */
long long output_received(void);

/* mirror.c: copies the VM's volume to an agent while the VM runs. */
void mirror_open(long volume_fd);
/* Hands the connection of an agent to the VMM, which copies to it. Else says why not. */
const char *mirror_begin(int fd);
/* The number of the last one that began. */
int mirror_number(void);
/* The VM stands still: what is left goes over, and then the mirror ends. */
void mirror_finish(void);
bool mirror_under_way(void);
/* Handles a line of the monitor. */
void mirror_take(const char *line);

/* suspend.c */
void suspend_begin(void);
void suspend_settle(void);
void suspend_cancel(const char *why);
bool suspend_under_way(void);
bool suspend_is_done(void);
/* Handles a line of the monitor. */
void suspend_take(const char *line);
/* Called when the VM runs again. */
void suspend_resumed(void);
int suspend_wait_ms(void);
void suspend_tick(void);

/* term.c: ends the VM when the host's term is over. */
/* Opens and reads the file. Returns false if that is impossible. With `path` NULL there is no term. */
bool term_open(const char *path);
bool term_is_over(void);
/* The descriptor that is readable when `term_take` is due; -1: there is none. */
int term_fd(void);
/* Reads the file again, and kills the VM if the term is over. */
void term_take(void);
/* Does the same for an agent that asked. */
void term_answer(void);

/* stall.c */
/*
 * A VM that stands still because its disk is full goes on when the disk has more than this much room, or
 * more than this share of a smaller disk.
 */
#define STALL_ROOM_BYTES (256ULL << 20)
#define STALL_ROOM_SHARE 8
/* Called before the keeper closes the volume. `volume_fd` -1: there is no volume. */
void stall_open(long volume_fd);
/* Whether agents have been told that the VM stands still. */
bool stall_is_known(void);
/* Handles a line of the monitor. */
void stall_take(const char *line);
/* Called when the VM runs again. */
void stall_resumed(void);
int stall_wait_ms(void);
void stall_tick(void);

/* monitor.c: reads what QMP says. */
void monitor_open(int fd, const struct options *options);
/* Returns false once the VMM has closed the monitor. */
bool monitor_read(void);

/* control.c: speaks with agents. */
bool control_open(void);
size_t control_poll(struct pollfd *slots);
void control_handle(const struct pollfd *slots, size_t count);

int ram_main(const char *size_mb);
int clock_main(void);
int waiting_main(const char *program, char **groups);
int enter_main(char **arguments);
int transient_main(char **arguments);

#define MAX_CLIENTS 4

#endif
