/*
 * init: the first program of every guest that runs on the platform's kernel. It is process 1 and stays until
 * the end.
 *
 * What it does, in this order: mounts, loads the drivers, opens the control channel, says `ready`, waits for
 * its configuration, and only then touches disk and network. So a guest can be frozen at `ready`, copied, and
 * given a life of its own: nothing of one instance is in the copy of another.
 *
 * The control channel (virtio-serial port `ctl`) carries lines. Guest to host:
 *   ready                           waits for `config`
 *   time?                           wants `time`
 *   app <pid>                       the application has been entered
 *   listen                          the first listening socket is there
 *   disabled 0|1                    the application ceased or began to speak against standby
 *   awake                           has obeyed what came before `awake`
 *   sleep ready|disabled            the answer to `sleep?`; after `ready` a writable volume is frozen, until `awake`
 *   volume <why> <errno>            the volume can not be used, see volume.c; the machine goes off, there is no `app`
 *   exit code|signal <n> oom <0|1> killed <0|1> output <bytes written to port `log`>
 * Host to guest:
 *   config <length>\n<records>      see config.c
 *   time <ns since the epoch>
 *   entropy <hex>                   for the random pool
 *   sleep?                          may it go to standby? After `ready` the file by which one speaks against it rests
 *   awake                           it did not, or does no more: the file goes on
 *   shutdown <grace ms>
 *   bye                             all output has arrived; the machine may go off
 * A guest that goes on from its snapshot finds `time`, `entropy` and `awake` in its port before its CPUs run.
 */
#ifndef ROOST_INIT_H
#define ROOST_INIT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Bounds what the host may send; the host has the same number (src/host/vmm/guest-config.ts). */
#define MAX_CONFIG_BYTES (4u << 20)
#define MAX_GROUPS 64
#define MAX_ENTROPY_BYTES 256
/* As little as the kernel lets be asked for; more than any number that counts has digits. */
#define MAX_DISABLE_TEXT 4096
/* The last words, before the machine goes off. */
#define REPORT_WAIT_MS 2000
#define DISABLE_FILE "/uk/libukp/scale_to_zero_disable"
/* Where an application finds the name of that file. */
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
  const char *volume; /* where; NULL: none */
  bool volume_readonly;
  int prefix_length;
  const char *entropy;
  size_t entropy_bytes;
};

/* config.c: parses `key=value` records, each ended by NUL. The strings point into `records`, which stays. */
bool config_parse(struct config *config, char *records, size_t length);
/* Decodes in place; returns how many bytes there are. */
size_t decode_hex(char *text);

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
/* Blocks until a line is there. */
char *channel_wait_line(void);
/* Blocks until `length` bytes are read into `buffer`. */
void channel_read_exactly(char *buffer, size_t length);
/* Waits, bounded, until everything sent has been taken by the host. */
void channel_flush(int timeout_ms);
bool channel_has_outbox(void);
void channel_pump(void);

/* clock.c */
void reseed_random(const char *entropy, size_t length);
void set_clock_ns(long long ns);

/* network.c */
void network_configure(const struct config *config);

/* root.c: makes the image's file system, writable, the root. */
void root_enter(void);
/* Waits, bounded, for the disk with this serial; its device file. */
bool disk_find(const char *serial, char *device, size_t size);
void root_write_host_files(const struct config *config);

/* power.c: writes back what is in memory, and turns the machine off. */
_Noreturn void power_off(void);

/* volume.c */
/* Does not return where it can not be mounted: the host has been told and the machine goes off. */
void volume_mount(const struct config *config);
/*
 * Has it written back and frozen. True where that is so already; else, unless it is not wanted any more when
 * it is.
 */
bool volume_hush(void);
int volume_hush_fd(void);
bool volume_hush_ended(void);
void volume_thaw(void);
/* Ends every process but ours and leaves the file system clean. */
void volume_close(void);

/* disable-count.c: writes of the file `scale_to_zero_disable`; returns 0, EINVAL or ERANGE. */
int disable_count_write(const char *bytes, size_t length);
/* Writes `=<count>` and a newline, without NUL; returns the length, 64 at most. */
size_t disable_count_text(char *text);
bool disable_count_is_set(void);

/* disable-file.c */
bool disable_file_open(void);
int disable_file_fd(void);
void disable_file_serve(void);

/* user.c: resolves `name`, `uid`, `name:group`, `uid:gid` by the image's own tables. */
struct identity {
  uid_t uid;
  gid_t gid;
  gid_t groups[MAX_GROUPS];
  size_t group_count;
  const char *home;
};
bool identity_resolve(const char *user, struct identity *identity);

/* reserve.c: that running out of memory ends the application, and not the kernel. */
void reserve_keep(void);

/* process.c: starts the application. Returns its process id, or -1 with the exit code to report. */
pid_t application_start(const struct config *config, int output_fd, int *exit_code);

/* output.c: the application's output, from its pipe to port `log`. */
void output_open(int from_pipe_fd);
/* From here on a thread carries it, which inherits what signals are blocked. */
void output_start(void);
/* Takes what is left in the pipe, bounded in time. */
void output_drain(void);
long long output_written(void);

/* supervise.c: everything after the start; does not return. */
_Noreturn void supervise(pid_t application);
/* Reports how the application ended and powers off. */
_Noreturn void finish(const char *how, int value, bool out_of_memory, bool killed);

/* watch.c */
bool socket_listens(void);
long oom_kill_count(void);

/* message.c: one line on the instance's console. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For what can not be: says why and ends process 1, which panics the kernel, which the host sees. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
