#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
/* The exit codes that shells, and like them container runtimes, report for these failures. */
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

static const char *variable(char **env, const char *name) {
  size_t length = strlen(name);
  for (; *env != NULL; env++) {
    if (strncmp(*env, name, length) == 0 && (*env)[length] == '=') return *env + length + 1;
  }
  return NULL;
}

static void add_default(char **env, const char *name, const char *value) {
  if (variable(env, name) != NULL) return;
  size_t count = 0, size = strlen(name) + strlen(value) + 2;
  while (env[count] != NULL) count++;
  env[count] = malloc(size);
  if (env[count] != NULL) snprintf(env[count], size, "%s=%s", name, value);
}

static void make_directories(const char *path) {
  char partial[4096];
  snprintf(partial, sizeof partial, "%s", path);
  for (char *at = partial + 1; *at != '\0'; at++) {
    if (*at != '/') continue;
    *at = '\0';
    mkdir(partial, 0755);
    *at = '/';
  }
  mkdir(partial, 0755);
}

void process_execute(char **argv, char **env) {
  if (strchr(argv[0], '/') != NULL) {
    execve(argv[0], argv, env);
    return;
  }
  const char *path = variable(env, "PATH");
  int reason = ENOENT;
  char candidate[4096];
  for (const char *at = path; at != NULL && *at != '\0';) {
    size_t length = strcspn(at, ":");
    snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, length > 0 ? at : ".", argv[0]);
    execve(candidate, argv, env);
    if (errno != ENOENT && errno != ENOTDIR) reason = errno;
    at += length + (at[length] == ':');
  }
  errno = reason;
}

void process_take_identity(const struct identity *identity) {
  if (setgroups(identity->group_count, identity->groups) < 0) return;
  if (setgid(identity->gid) < 0 || setuid(identity->uid) < 0) _exit(EXIT_NOT_EXECUTABLE);
}

void process_reset_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void become_application(const struct config *config, const struct identity *identity, int output_fd, int error_fd) {
  process_reset_signals();
  setsid();
  int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, 0);
  dup2(output_fd, 1);
  dup2(output_fd, 2);
  /*
   * Many programs open `/dev/stdout` by name. That must work as it does for a shell's child, so the pipe
   * belongs to the application's user.
   */
  if (fchown(1, identity->uid, identity->gid) < 0) errno = 0;
  process_take_identity(identity);
  process_execute(config->argv, config->env);
  int reason = errno;
  if (write(error_fd, &reason, sizeof reason) < 0) _exit(EXIT_NOT_EXECUTABLE);
  _exit(EXIT_NOT_FOUND);
}

static int refuse(int code, const char *what, const char *why) {
  say("can not run '%s': %s", what, why);
  return code;
}

pid_t application_start(const struct config *config, int output_fd, int *exit_code) {
  struct identity identity;
  *exit_code = EXIT_NOT_EXECUTABLE;
  if (!identity_resolve(config->user, &identity)) {
    refuse(0, config->argv[0], "the image has no such user or group");
    say("user: '%s'", config->user);
    return -1;
  }
  add_default(config->env, "PATH", DEFAULT_PATH);
  add_default(config->env, "HOME", identity.home);
  if (disable_file_fd() >= 0) add_default(config->env, DISABLE_FILE_VARIABLE, DISABLE_FILE);
  const char *directory = config->working_directory[0] == '/' ? config->working_directory : "/";
  make_directories(directory);
  if (chdir(directory) < 0) say("can not enter '%s': %s", directory, strerror(errno));

  /*
   * `result` carries the errno of a start that failed. When the program starts, the kernel closes the write
   * end by itself, and nothing was written.
   */
  int result[2];
  if (pipe2(result, O_CLOEXEC) < 0) die("no pipe: %s", strerror(errno));
  pid_t child = vfork();
  if (child < 0) die("no process: %s", strerror(errno));
  if (child == 0) become_application(config, &identity, output_fd, result[1]);
  close(result[1]);
  int reason;
  bool failed = read(result[0], &reason, sizeof reason) == sizeof reason;
  close(result[0]);
  if (chdir("/") < 0) errno = 0;
  if (!failed) return child;
  waitpid(child, NULL, 0);
  bool missing = reason == ENOENT || reason == ENOTDIR;
  *exit_code = refuse(missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, config->argv[0], strerror(reason));
  return -1;
}
