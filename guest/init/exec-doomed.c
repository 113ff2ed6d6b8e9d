#include <errno.h>
#include <signal.h>

#include "exec.h"

/* As many as several agents in a row can leave. Beyond that, processes have no time between the signals. */
#define MAX_DOOMED (4 * EXEC_MAX_PROGRAMS)

static struct {
  pid_t group; /* 0: free */
  long long kill_at_ms;
} doomed[MAX_DOOMED];

void exec_doom(struct exec_session *session) {
  exec_session_close(session);
  exec_session_forget(session);
  if (session->kind == EXEC_CONNECTION) return;
  for (int i = 0; i < MAX_DOOMED; i++) {
    if (doomed[i].group != 0) continue;
    doomed[i].group = session->pid;
    doomed[i].kill_at_ms = session->kill_at_ms;
    return;
  }
  kill(-session->pid, SIGKILL);
}

bool exec_doomed_are_left(void) {
  bool left = false;
  for (int i = 0; i < MAX_DOOMED; i++) {
    if (doomed[i].group == 0) continue;
    bool empty = kill(-doomed[i].group, 0) < 0 && errno == ESRCH;
    bool due = exec_now_ms() >= doomed[i].kill_at_ms;
    if (due && !empty) kill(-doomed[i].group, SIGKILL);
    if (due || empty) doomed[i].group = 0;
    else left = true;
  }
  return left;
}
