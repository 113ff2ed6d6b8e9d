#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

static void write_console(const char *format, va_list arguments) {
  char line[512] = "roost: ";
  int prefix = (int)strlen(line);
  int length = vsnprintf(line + prefix, sizeof(line) - (size_t)prefix - 1, format, arguments);
  if (length < 0) return;
  size_t total = strlen(line);
  line[total++] = '\n';
  if (write(2, line, total) < 0) return;
}

void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_console(format, arguments);
  va_end(arguments);
}

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_console(format, arguments);
  va_end(arguments);
  _exit(1);
}
