#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"

/* The terminal that a program is told of if the host has not named one. */
#define DEFAULT_TERMINAL "xterm"

static bool take(const char *record, const char *key, const char **value) {
  size_t length = strlen(key);
  if (strncmp(record, key, length) != 0 || record[length] != '=') return false;
  *value = record + length + 1;
  return true;
}

static void take_copy(struct exec_request *request, const char *record) {
  const char *value;
  if (take(record, "pack", &request->path)) request->kind = EXEC_PACK;
  else if (take(record, "unpack", &request->path)) request->kind = EXEC_UNPACK;
  else if (take(record, "follow", &value)) request->follow = strcmp(value, "1") == 0;
  else if (take(record, "extract", &value)) request->extract = strcmp(value, "1") == 0;
  else if (take(record, "owners", &value)) request->owners = strcmp(value, "1") == 0;
}

bool exec_request_parse(struct exec_request *request, char *records, size_t length) {
  memset(request, 0, sizeof *request);
  if (length == 0 || records[length - 1] != '\0') return false;
  size_t count = 0, arguments = 0;
  for (size_t i = 0; i < length; i++) count += records[i] == '\0';
  request->argv = calloc(count + 1, sizeof(char *));
  if (request->argv == NULL) return false;
  for (char *record = records; record < records + length; record += strlen(record) + 1) {
    const char *value;
    unsigned rows, columns, port;
    if (take(record, "arg", &value)) request->argv[arguments++] = (char *)value;
    else if (take(record, "term", &value)) request->term = value;
    else if (take(record, "tty", &value) && sscanf(value, "%u %u", &rows, &columns) == 2) {
      request->tty = true;
      request->rows = (uint16_t)rows;
      request->columns = (uint16_t)columns;
    } else if (take(record, "connect", &value) && sscanf(value, "%u", &port) == 1 && port > 0 && port <= UINT16_MAX) {
      request->kind = EXEC_CONNECTION;
      request->port = (uint16_t)port;
    } else {
      take_copy(request, record);
    }
  }
  if (request->kind == EXEC_CONNECTION) return true;
  if (request->kind != EXEC_PROGRAM) return request->path[0] != '\0';
  return arguments > 0 && request->argv[0][0] != '\0';
}

char **exec_environment(const struct config *config, const struct exec_request *request) {
  static char terminal[72];
  size_t count = 0;
  bool has_terminal = !request->tty;
  while (config->env[count] != NULL) has_terminal |= strncmp(config->env[count++], "TERM=", 5) == 0;
  char **env = calloc(count + 2, sizeof(char *));
  if (env == NULL) return NULL;
  memcpy(env, config->env, count * sizeof(char *));
  snprintf(terminal, sizeof terminal, "TERM=%.64s", request->term != NULL ? request->term : DEFAULT_TERMINAL);
  if (!has_terminal) env[count] = terminal;
  return env;
}
