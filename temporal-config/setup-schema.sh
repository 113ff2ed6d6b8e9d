#!/bin/sh
# Creates Temporal's two databases and brings their schema up to date. Repeating it changes nothing.
# Environment: POSTGRES_HOST, POSTGRES_PORT, POSTGRES_USER, POSTGRES_PASSWORD; outside Temporal's admin-tools image also
# TEMPORAL_SQL_TOOL and TEMPORAL_SCHEMA_DIR.
set -eu
tool=${TEMPORAL_SQL_TOOL:-temporal-sql-tool}
schema=${TEMPORAL_SCHEMA_DIR:-/etc/temporal/schema/postgresql/v12}
# The password goes by the environment: arguments can be read by everybody on the machine.
export SQL_PLUGIN=postgres12 SQL_HOST="$POSTGRES_HOST" SQL_PORT="${POSTGRES_PORT:-5432}" SQL_USER="$POSTGRES_USER" SQL_PASSWORD="$POSTGRES_PASSWORD"

prepare() {
  export SQL_DATABASE="$1"
  "$tool" create-database
  # The version table is made once; a second set-up would put the version back to the beginning.
  "$tool" update-schema --schema-dir "$schema/$2/versioned" && return
  "$tool" setup-schema --version 0.0
  "$tool" update-schema --schema-dir "$schema/$2/versioned"
}
prepare temporal temporal
prepare temporal_visibility visibility
