#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "init.h"

static bool is_number(const char *text) { return text[0] != '\0' && strspn(text, "0123456789") == strlen(text); }

/* Splits `line` at its colons in place. Returns the number of fields. */
static size_t split_fields(char *line, char **fields, size_t limit) {
  size_t count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *rest = line; rest != NULL && count < limit;) fields[count++] = strsep(&rest, ":");
  return count;
}

/* Reads lines name:password:uid:gid:comment:home:shell. Returns true if the user is in the table. */
static bool find_user(const char *wanted, struct identity *identity, char *name, size_t size) {
  static char line[4096];
  char *fields[7];
  bool found = false;
  FILE *table = fopen("/etc/passwd", "re");
  while (table != NULL && !found && fgets(line, sizeof line, table) != NULL) {
    if (split_fields(line, fields, 7) < 6) continue;
    if (strcmp(fields[0], wanted) != 0 && !(is_number(wanted) && strcmp(fields[2], wanted) == 0)) continue;
    identity->uid = (uid_t)strtoul(fields[2], NULL, 10);
    identity->gid = (gid_t)strtoul(fields[3], NULL, 10);
    identity->home = strdup(fields[5]);
    snprintf(name, size, "%s", fields[0]);
    found = true;
  }
  if (table != NULL) fclose(table);
  return found;
}

static bool is_member(char *members, const char *name) {
  for (char *rest = members, *member; rest != NULL && (member = strsep(&rest, ",")) != NULL;) {
    if (strcmp(member, name) == 0) return true;
  }
  return false;
}

/*
 * Reads lines name:password:gid:members. Finds the group `wanted`, or else collects the groups that list
 * `user`.
 */
static bool scan_groups(const char *wanted, const char *user, struct identity *identity) {
  static char line[16384];
  char *fields[4];
  bool found = false;
  FILE *table = fopen("/etc/group", "re");
  while (table != NULL && fgets(line, sizeof line, table) != NULL) {
    fields[3] = NULL;
    if (split_fields(line, fields, 4) < 3) continue;
    gid_t gid = (gid_t)strtoul(fields[2], NULL, 10);
    if (wanted != NULL && strcmp(fields[0], wanted) == 0) {
      identity->gid = gid;
      found = true;
    }
    bool member = fields[3] != NULL && user[0] != '\0' && is_member(fields[3], user);
    if (wanted == NULL && member && identity->group_count < MAX_GROUPS) identity->groups[identity->group_count++] = gid;
  }
  if (table != NULL) fclose(table);
  return found;
}

bool identity_resolve(const char *user, struct identity *identity) {
  char wanted[256], name[256] = "";
  memset(identity, 0, sizeof *identity);
  identity->home = "/";
  snprintf(wanted, sizeof wanted, "%s", user[0] != '\0' ? user : "0");
  char *group = strchr(wanted, ':');
  if (group != NULL) *group++ = '\0';

  if (!find_user(wanted, identity, name, sizeof name)) {
    if (!is_number(wanted)) return false;
    identity->uid = (uid_t)strtoul(wanted, NULL, 10);
    if (identity->uid == 0) identity->home = "/root";
  }
  if (group == NULL || group[0] == '\0') {
    scan_groups(NULL, name, identity);
    return true;
  }
  /* With an explicit group the user gets no other groups, as in container runtimes. */
  if (scan_groups(group, "", identity)) return true;
  if (!is_number(group)) return false;
  identity->gid = (gid_t)strtoul(group, NULL, 10);
  return true;
}
