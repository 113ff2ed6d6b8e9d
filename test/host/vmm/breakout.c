/*
 * Runs in place of QEMU, like a guest that has taken over its VMM, and tries to reach what does not belong
 * to the VM. Writes one line to REPORT_FD for each try, `<what> reached` or `<what> refused <errno>`, then
 * `done`. The test compiles it with the places to look at.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <arpa/inet.h>

#define CONTROL_FD 22
#define MONITOR_FD 23

static void tell(const char *what, const char *which, int result) {
  int number = errno;
  if (result < 0) dprintf(REPORT_FD, "%s %s refused %d\n", what, which, number);
  else dprintf(REPORT_FD, "%s %s reached\n", what, which);
}

static void try_connection(const char *address) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  inet_pton(AF_INET, address, &to.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  tell("connection", address, fd < 0 ? fd : connect(fd, (struct sockaddr *)&to, sizeof to));
}

static void try_abstract_socket(const char *name) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  strcpy(to.sun_path + 1, name);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  tell("socket", name, connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))));
}

static void try_file(const char *path) { tell("file", path, open(path, O_RDONLY | O_NONBLOCK)); }

static void try_writing(const char *directory) {
  char path[512];
  snprintf(path, sizeof path, "%s/" WRITTEN, directory);
  tell("write", directory, open(path, O_WRONLY | O_CREAT, 0600));
}

static void try_process(const char *which, pid_t pid) {
  char path[64];
  tell("signal", which, kill(pid, 0));
  tell("trace", which, (int)ptrace(PTRACE_ATTACH, pid, NULL, NULL));
  snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
  tell("sight", which, open(path, O_RDONLY));
}

static void try_powers(void) {
  tell("power", "setuid", setuid(0));
  tell("power", "mount", mount("none", "/proc", "tmpfs", 0, NULL));
  tell("power", "namespace", unshare(CLONE_NEWNS));
  tell("power", "device", mknod("/dev/made", S_IFBLK | 0600, 0));
  tell("power", "raw", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  tell("power", "packet", socket(AF_PACKET, SOCK_RAW, 0));
}

/* Runs a copy of id(1) that belongs to root and is setuid. */
static void try_setuid_program(const char *path) {
  int ends[2];
  char said[64] = "";
  if (pipe(ends) < 0) return;
  if (fork() == 0) {
    dup2(ends[1], 1);
    execl(path, path, "-u", (char *)NULL);
    _exit(1);
  }
  close(ends[1]);
  ssize_t got = read(ends[0], said, sizeof said - 1);
  wait(NULL);
  errno = got > 0 ? EPERM : EIO;
  tell("power", "setuid-program", strcmp(said, "0\n") == 0 ? 0 : -1);
}

/* Ignores every signal, and starts a process that does so too, in a session of its own. */
static void try_to_stay(void) {
  for (int signal_number = 1; signal_number < 32; signal_number++) signal(signal_number, SIG_IGN);
  if (fork() == 0) {
    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    for (;;) pause();
  }
  prctl(PR_SET_PDEATHSIG, 0);
}

int main(void) {
  static const char *const files[] = {FILES};
  static const char *const directories[] = {DIRECTORIES};
  static const struct { const char *name; pid_t pid; } processes[] = {PROCESSES};
  char answer[512];
  if (write(MONITOR_FD, "{\"QMP\": {}}\n{\"event\": \"RESUME\"}\n", 33) < 0) return 1;
  /* The keeper hears first that the CPUs run, and then that the application does, as from a real VM. */
  if (read(MONITOR_FD, answer, sizeof answer) < 0 || write(CONTROL_FD, "app 1\n", 6) < 0) return 1;
  try_connection("127.0.0.1");
  try_connection(GATEWAY);
  try_abstract_socket(ABSTRACT);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) try_file(files[i]);
  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) try_writing(directories[i]);
  for (size_t i = 0; i < sizeof processes / sizeof *processes; i++) try_process(processes[i].name, processes[i].pid);
  tell("signal", "parent", kill(getppid() != 0 ? getppid() : 1, SIGKILL));
  tell("trace", "parent", (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
  tell("memory", "shared", shmat(SEGMENT, NULL, 0) == (void *)-1 ? -1 : 0);
  try_powers();
  try_setuid_program(SETUID_PROGRAM);
  try_to_stay();
  dprintf(REPORT_FD, "done\n");
  for (;;) pause();
}
