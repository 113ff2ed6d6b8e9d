/*
 * init: the first program of every guest that runs on the platform's kernel. It is process 1 and stays until
 * the end.
 *
 * init mounts the kernel's file systems, loads the drivers, opens the control channel, says `ready` and
 * waits for its configuration. It touches disk and network only after that. So a guest can be frozen at
 * `ready`, copied, and given a life of its own: nothing of one instance is in the copy of another.
 *
 * The control channel (virtio-serial port `ctl`) carries lines. Guest to host:
 *   ready                           init waits for `config`
 *   time?                           init asks for `time`
 *   app <pid>                       the application has been entered
 *   listen                          the first listening socket is there
 *   disabled 0|1                    the application ceased or began to speak against standby
 *   awake                           init has obeyed all lines before the host's `awake`
 *   sleep ready|disabled            the answer to `sleep?`; after `ready` a writable volume is frozen, until `awake`
 *   volume <why> <errno>            the volume can not be used, see volume.c; the machine goes off without `app`
 *   exit code|signal <n> oom <0|1> killed <0|1> output <bytes written to port `log`>
 * Host to guest:
 *   config <length>\n<records>      see config.c
 *   time <ns since the epoch>
 *   entropy <hex>                   for the random pool
 *   sleep?                          may the guest go to standby? After `ready` init no longer serves the disable file
 *   awake                           the guest stays awake, or woke: init serves the disable file again
 *   shutdown <grace ms>
 *   bye                             all output has arrived; the machine may go off
 * The port `exec` beside it is for programs that users run, see exec.h.
 *
 * When a guest goes on from its snapshot, `time`, `entropy` and `awake` are in its port before its CPUs run.
 */
#ifndef ROOST_INIT_H
#define ROOST_INIT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The most bytes of a configuration that init accepts. The host has the same number
 * (src/host/vmm/guest-config.ts).
 */
#define MAX_CONFIG_BYTES (4u << 20)
#define MAX_GROUPS 64
#define MAX_ENTROPY_BYTES 256
/*
 * The most bytes of one write to the disable file. The kernel permits no smaller bound, and every valid
 * number is shorter.
 */
#define MAX_DISABLE_TEXT 4096
/* How long init waits for the host to take its last lines before the machine goes off. */
#define REPORT_WAIT_MS 2000
#define DISABLE_FILE "/uk/libukp/scale_to_zero_disable"
/* The environment variable that tells an application the path of the disable file. */
#define DISABLE_FILE_VARIABLE "ROOST_SCALE_TO_ZERO_FILE"

struct config {
  char **argv; /* ends with NULL */
  char **env;  /* ends with NULL */
  const char *working_directory;
  const char *user;
  const char *hostname;
  const char *ip;
  const char *gateway;
  const char *nameserver;
  const char *mac;
  const char *volume; /* the mount point; NULL if there is no volume */
  bool volume_readonly;
  int prefix_length;
  const char *entropy;
  size_t entropy_bytes;
};

/*
 * config.c: parses `key=value` records, each ended by NUL. The strings point into `records`, so it must not
 * be freed.
 */
bool config_parse(struct config *config, char *records, size_t length);
/* Decodes in place. Returns the number of bytes. */
size_t decode_hex(char *text);

/* number.c */
#define MAX_NUMBER ((unsigned __int128)1 << 64)
/*
 * Returns false if the text is not `length` digits. A number beyond MAX_NUMBER becomes MAX_NUMBER + 1, so
 * that every number that is too large is seen as such.
 */
bool parse_digits(const char *digits, size_t length, unsigned __int128 *number);
/* Returns false if the line is not this word, a space and a number. */
bool parse_command(const char *line, const char *word, long long *number);

/* boot.c */
void mount_kernel_file_systems(void);
/* Loads the modules of an archive in the order of its list and deletes their files. */
void load_modules(const char *list_path);

/* channel.c */
void channel_open(void);
int channel_fd(void);
int port_open(const char *name, int flags);
void channel_send(const char *line);
/* The next line without its newline, or NULL when none is complete. Never blocks. */
char *channel_line(void);
/* Blocks until a complete line has arrived. */
char *channel_wait_line(void);
/* Blocks until `length` bytes are read into `buffer`. */
void channel_read_exactly(char *buffer, size_t length);
/* Waits until the host has taken everything that was sent, at most `timeout_ms`. */
void channel_flush(int timeout_ms);
bool channel_has_outbox(void);
void channel_pump(void);

/* clock.c */
void reseed_random(const char *entropy, size_t length);
void set_clock_ns(long long ns);

/* network.c */
void network_configure(const struct config *config);

/* root.c: makes the image's file system the root, with a writable layer on top. */
void root_enter(void);
/* Waits, with a bound, for the disk with this serial, and writes the path of its device file to `device`. */
bool disk_find(const char *serial, char *device, size_t size);
void root_write_host_files(const struct config *config);

/* power.c */
/* Writes unsaved data to the disks, and turns the machine off. */
_Noreturn void power_off(void);
/* Stops the processor for good, and leaves the machine on. */
_Noreturn void stand_still(void);

/* timer.c: returns false if the kernel has no timer, or one at a rate that is far from the true one. */
bool timer_is_right(void);

/* volume.c */
/* Mounts the volume. If that is impossible, it tells the host, turns the machine off and does not return. */
void volume_mount(const struct config *config);
/*
 * Begins to write the volume's data back and to freeze the file system. Returns true if that is done
 * already, or if there is no writable volume. Otherwise `volume_hush_fd` becomes readable when it is done.
 */
bool volume_hush(void);
int volume_hush_fd(void);
/* Called when `volume_hush_fd` is readable. Returns false if the volume was thawed in the meantime. */
bool volume_hush_ended(void);
void volume_thaw(void);
/* Ends every process except this one, and makes the volume's file system clean. */
void volume_close(void);

/* disable-count.c: carries out a write to the file `scale_to_zero_disable`. Returns 0, EINVAL or ERANGE. */
int disable_count_write(const char *bytes, size_t length);
/* Writes `=<count>` and a newline, without NUL. Returns the length, at most 64. */
size_t disable_count_text(char *text);
bool disable_count_is_set(void);

/* disable-file.c */
bool disable_file_open(void);
int disable_file_fd(void);
void disable_file_serve(void);

/* user.c: resolves `name`, `uid`, `name:group` or `uid:gid` with the image's own tables. */
struct identity {
  uid_t uid;
  gid_t gid;
  gid_t groups[MAX_GROUPS];
  size_t group_count;
  const char *home;
};
bool identity_resolve(const char *user, struct identity *identity);

/*
 * reserve.c: makes sure that the kernel does not panic when memory runs out, so that only the application
 * ends.
 */
void reserve_keep(void);

/* process.c: starts the application. Returns its process id, or -1 with the exit code to report. */
pid_t application_start(const struct config *config, int output_fd, int *exit_code);
/* These run in the process that becomes a program. */
void process_reset_signals(void);
void process_take_identity(const struct identity *identity);
/* Returns only on failure, with the reason in errno. */
void process_execute(char **argv, char **env);

/* output.c: carries the application's output from its pipe to port `log`. */
void output_open(int from_pipe_fd);
/* Starts the thread that carries the output. The thread inherits the mask of blocked signals. */
void output_start(void);
/* Carries what is left in the pipe to the port. It stops early if the port accepts nothing for too long. */
void output_drain(void);
long long output_written(void);

/* supervise.c: does everything after the start. */
_Noreturn void supervise(pid_t application, const struct config *config);
/* Reports how the application ended and powers off. */
_Noreturn void finish(const char *how, int value, bool out_of_memory, bool killed);

/* exec.c: programs that users run beside the application, see exec.h. */
/* Called once SIGIO is blocked: the kernel sends that signal when the host connects. */
void exec_open(const struct config *config);
/* Starts the exec server if the host is connected and there is none. */
void exec_tend(void);
void exec_note_end(pid_t ended);

/* watch.c */
bool socket_listens(void);
long oom_kill_count(void);

/* message.c: writes one line to the instance's console. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * For states that must not occur: says why and ends process 1. That panics the kernel, and the host sees it.
 */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
