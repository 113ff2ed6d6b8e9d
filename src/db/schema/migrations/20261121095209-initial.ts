import { Migration } from '@mikro-orm/migrations'

export class Migration20261121095209_initial extends Migration {
  override name = 'Migration20261121095209_initial'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "nodes" ("id" text not null, "agent_url" text not null, "agent_secret" text not null, "accelerator" text not null, "memory_mb" int not null, "version" text not null, "subnet" text not null, "next_address" int not null, "created_at" timestamptz(3) not null default now(), "heartbeat_at" timestamptz(3) not null, primary key ("id"));`,
    )
    this.addSql(`alter table "nodes" add constraint "nodes_subnet_unique" unique ("subnet");`)

    this.addSql(
      `create table "users" ("uuid" uuid not null, "name" text not null, "created_at" timestamptz(3) not null default now(), "admin" boolean not null, "hard_instances" int not null, "hard_live_instances" int not null, "hard_live_vcpus" int not null, "hard_live_memory_mb" int not null, "hard_service_groups" int not null, "hard_services" int not null, "hard_volumes" int not null, "hard_total_volume_mb" int not null, "min_memory_mb" int not null, "max_memory_mb" int not null, "min_vcpus" int not null, "max_vcpus" int not null, "min_volume_mb" int not null, "max_volume_mb" int not null, "min_autoscale_size" int not null, "max_autoscale_size" int not null, primary key ("uuid"));`,
    )
    this.addSql(`alter table "users" add constraint "users_name_unique" unique ("name");`)

    this.addSql(
      `create table "tokens" ("uuid" uuid not null, "user_uuid" uuid not null, "label" text not null, "developer" boolean not null, "selector" text not null, "secret_sha256" text not null, "created_at" timestamptz(3) not null default now(), "last_used_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, primary key ("uuid"));`,
    )
    this.addSql(`create index "tokens_user_index" on "tokens" ("user_uuid");`)
    this.addSql(`alter table "tokens" add constraint "tokens_selector_unique" unique ("selector");`)

    this.addSql(
      `create table "instances" ("uuid" uuid not null, "position" bigserial, "user_uuid" uuid not null, "node_id" text not null, "name" text not null, "created_at" timestamptz(3) not null default now(), "deleted_at" timestamptz(3) null, "workflow_started_at" timestamptz(3) null, "image" text not null, "memory_mb" int not null, "vcpus" int not null, "args" jsonb null, "env_sealed" text not null, "autostart" boolean not null, "delete_on_stop" boolean not null, "restart_policy" text not null, "network_uuid" uuid not null, "private_ip" text not null, "mac" text not null, "live_reserved_until" timestamptz(3) null, "revision" bigint not null default '0', "state" text not null, "boot" int not null default 0, "start_count" int not null default 0, "restart_count" int not null default 0, "restart_attempt" int not null default 0, "restart_next_at" timestamptz(3) null, "started_at" timestamptz(3) null, "stopped_at" timestamptz(3) null, "uptime_ms" bigint not null default '0', "boot_time_us" bigint null, "vmm_start_time_us" bigint null, "vmm_load_time_us" bigint null, "vmm_ready_time_us" bigint null, "net_time_us" bigint null, "start_kind" text null, "stop_reason" int null, "exit_code" int null, "stop_code" bigint null, "failure" text null, primary key ("uuid"));`,
    )
    this.addSql(
      `create index instances_page_index on instances (user_uuid, position) where deleted_at is null;`,
    )
    this.addSql(
      `create index instances_state_index on instances (user_uuid, state, position) where deleted_at is null;`,
    )
    this.addSql(
      `create index instances_node_live_index on instances (node_id, memory_mb) where state <> 'stopped';`,
    )
    this.addSql(
      `create index instances_unstarted_index on instances (created_at) where workflow_started_at is null;`,
    )
    this.addSql(
      `create index instances_deleted_index on instances (deleted_at) where deleted_at is not null;`,
    )
    this.addSql(
      `create unique index instances_name_unique on instances (user_uuid, name) where deleted_at is null;`,
    )
    this.addSql(
      `alter table "instances" add constraint "instances_address_unique" unique ("node_id", "private_ip");`,
    )

    this.addSql(
      `alter table "tokens" add constraint "tokens_user_uuid_foreign" foreign key ("user_uuid") references "users" ("uuid") on delete cascade;`,
    )

    this.addSql(
      `alter table "instances" add constraint "instances_user_uuid_foreign" foreign key ("user_uuid") references "users" ("uuid");`,
    )
    this.addSql(
      `alter table "instances" add constraint "instances_node_id_foreign" foreign key ("node_id") references "nodes" ("id");`,
    )
    this.addSql(
      `alter table "instances" add constraint "instances_restart_policy_check" check ("restart_policy" in ('never', 'always', 'on-failure'));`,
    )
    this.addSql(
      `alter table "instances" add constraint "instances_state_check" check ("state" in ('stopped', 'starting', 'running', 'draining', 'stopping', 'standby'));`,
    )
    this.addSql(
      `alter table "instances" add constraint "instances_start_kind_check" check ("start_kind" in ('boot', 'template', 'restore'));`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "instances" drop constraint "instances_node_id_foreign";`)
    this.addSql(`alter table "tokens" drop constraint "tokens_user_uuid_foreign";`)
    this.addSql(`alter table "instances" drop constraint "instances_user_uuid_foreign";`)

    this.addSql(`drop table if exists "nodes" cascade;`)
    this.addSql(`drop table if exists "users" cascade;`)
    this.addSql(`drop table if exists "tokens" cascade;`)
    this.addSql(`drop table if exists "instances" cascade;`)
  }
}
