#include <stdlib.h>
#include <string.h>

#include "keeper.h"

static bool take(const char *argument, const char *key, const char **value) {
  size_t length = strlen(key);
  if (strncmp(argument, key, length) != 0 || argument[length] != '=') return false;
  *value = argument + length + 1;
  return true;
}

static bool take_option(struct options *options, const char *argument) {
  const char *value;
  if (take(argument, "dir", &value)) options->directory = value;
  else if (take(argument, "console", &value)) options->console_directory = value;
  else if (take(argument, "term", &value)) options->term = value;
  else if (take(argument, "tap", &value)) options->tap = value;
  else if (take(argument, "uid", &value)) options->uid = atol(value);
  else if (take(argument, "keeper_uid", &value)) options->keeper_uid = atol(value);
  else if (take(argument, "gid", &value)) options->gid = atol(value);
  else if (take(argument, "address_space_mb", &value)) options->address_space_mb = atol(value);
  else if (take(argument, "incoming", &value)) options->incoming_fd = atol(value);
  else if (take(argument, "volume", &value)) options->volume_fd = atol(value);
  else if (take(argument, "source", &value)) options->from_snapshot = strcmp(value, "snapshot") == 0;
  else if (take(argument, "output", &value)) options->output = atol(value);
  else if (take(argument, "listening", &value)) options->listening = atol(value);
  else if (take(argument, "disabled", &value)) options->disabled = atol(value);
  else if (take(argument, "guest", &value)) options->kind = strcmp(value, "kernel") == 0 ? GUEST_KERNEL : GUEST_CONTAINER;
  else return false;
  return true;
}

bool options_parse(struct options *options, char **arguments) {
  *options = (struct options){.uid = -1, .gid = -1, .keeper_uid = -1, .incoming_fd = -1, .volume_fd = -1, .disabled = -1};
  for (; *arguments != NULL && strcmp(*arguments, "--") != 0; arguments++) {
    if (!take_option(options, *arguments)) return false;
  }
  if (*arguments == NULL || arguments[1] == NULL) return false;
  options->command = arguments + 1;
  return true;
}
