/*
 * The configuration: records `key=value`. Each record ends with NUL, so that a value may hold any other
 * byte. `arg` and `env` may repeat, and their order counts. Unknown keys are ignored, because a newer host
 * may send keys that this guest does not know.
 */
#include <stdlib.h>
#include <string.h>

#include "init.h"

static size_t count_records(const char *records, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += records[i] == '\0';
  return count;
}

static bool take(const char *record, const char *key, const char **value) {
  size_t length = strlen(key);
  if (strncmp(record, key, length) != 0 || record[length] != '=') return false;
  *value = record + length + 1;
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/* Decoding in place works because the bytes never need more room than their digits. */
size_t decode_hex(char *text) {
  size_t length = 0;
  for (char *at = text; hex_digit(at[0]) >= 0 && hex_digit(at[1]) >= 0; at += 2) {
    text[length++] = (char)(hex_digit(at[0]) << 4 | hex_digit(at[1]));
  }
  return length;
}

static void take_record(struct config *config, char *record, size_t *arguments, size_t *variables) {
  const char *value;
  if (take(record, "arg", &value)) config->argv[(*arguments)++] = (char *)value;
  else if (take(record, "env", &value)) config->env[(*variables)++] = (char *)value;
  else if (take(record, "cwd", &value)) config->working_directory = value;
  else if (take(record, "user", &value)) config->user = value;
  else if (take(record, "hostname", &value)) config->hostname = value;
  else if (take(record, "ip", &value)) config->ip = value;
  else if (take(record, "prefix", &value)) config->prefix_length = atoi(value);
  else if (take(record, "gateway", &value)) config->gateway = value;
  else if (take(record, "nameserver", &value)) config->nameserver = value;
  else if (take(record, "mac", &value)) config->mac = value;
  else if (take(record, "volume", &value)) config->volume = value;
  else if (take(record, "volume_readonly", &value)) config->volume_readonly = strcmp(value, "1") == 0;
  else if (take(record, "entropy", &value)) {
    config->entropy_bytes = decode_hex((char *)value);
    config->entropy = value;
  }
}

bool config_parse(struct config *config, char *records, size_t length) {
  if (length == 0 || records[length - 1] != '\0') return false;
  size_t count = count_records(records, length);
  memset(config, 0, sizeof *config);
  config->argv = calloc(count + 1, sizeof(char *));
  /*
   * Room for three more variables: PATH and HOME if the image does not set them, and the disable file's
   * name.
   */
  config->env = calloc(count + 4, sizeof(char *));
  if (config->argv == NULL || config->env == NULL) return false;
  config->working_directory = config->user = config->hostname = "";
  size_t arguments = 0, variables = 0;
  for (char *record = records, *next; record < records + length; record = next) {
    next = record + strlen(record) + 1; /* before the record is decoded in place */
    take_record(config, record, &arguments, &variables);
  }
  return arguments > 0;
}
