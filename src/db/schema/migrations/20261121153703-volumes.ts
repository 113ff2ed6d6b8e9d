import { Migration } from '@mikro-orm/migrations'

export class Migration20261121153703_volumes extends Migration {
  override name = 'Migration20261121153703_volumes'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "volumes" ("uuid" uuid not null, "position" bigserial, "user_uuid" uuid not null, "node_id" text not null, "name" text not null, "created_at" timestamptz(3) not null default now(), "deleted_at" timestamptz(3) null, "workflow_started_at" timestamptz(3) null, "size_mb" int not null, "persistent" boolean not null, "revision" bigint not null default '0', "phase" text not null default 'uninitialized', "made" boolean not null default false, "failure" text null, primary key ("uuid"));`,
    )
    this.addSql(`create index "volumes_node_index" on "volumes" ("node_id");`)
    this.addSql(`create index volumes_page_index on volumes (user_uuid, position) where deleted_at is null;`)
    this.addSql(
      `create index volumes_unstarted_index on volumes (created_at) where workflow_started_at is null;`,
    )
    this.addSql(`create index volumes_deleted_index on volumes (deleted_at) where deleted_at is not null;`)
    this.addSql(
      `create unique index volumes_name_unique on volumes (user_uuid, name) where deleted_at is null;`,
    )

    this.addSql(`alter table "nodes" add "volume_mb" int not null default 0;`)

    this.addSql(
      `alter table "instances" add "volume_uuid" uuid null, add "volume_at" text null, add "volume_readonly" boolean not null default false;`,
    )
    this.addSql(
      `alter table "instances" add constraint "instances_volume_uuid_foreign" foreign key ("volume_uuid") references "volumes" ("uuid") on delete set null;`,
    )
    this.addSql(
      `create unique index instances_volume_unique on instances (volume_uuid) where deleted_at is null;`,
    )

    this.addSql(
      `alter table "volumes" add constraint "volumes_user_uuid_foreign" foreign key ("user_uuid") references "users" ("uuid");`,
    )
    this.addSql(
      `alter table "volumes" add constraint "volumes_node_id_foreign" foreign key ("node_id") references "nodes" ("id");`,
    )
    this.addSql(
      `alter table "volumes" add constraint "volumes_phase_check" check ("phase" in ('uninitialized', 'initializing', 'ready', 'busy', 'error'));`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "instances" drop constraint "instances_volume_uuid_foreign";`)
    this.addSql(`drop table if exists "volumes" cascade;`)
    // The unique index of the column goes with it.
    this.addSql(
      `alter table "instances" drop column "volume_uuid", drop column "volume_at", drop column "volume_readonly";`,
    )
    this.addSql(`alter table "nodes" drop column "volume_mb";`)
  }
}
