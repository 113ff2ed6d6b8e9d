import { Migration } from '@mikro-orm/migrations'

export class Migration20261121190137_autoscale extends Migration {
  override name = 'Migration20261121190137_autoscale'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "autoscale_decisions" ("position" bigserial primary key, "service_uuid" uuid not null, "at" timestamptz(3) not null default now(), "report" jsonb not null);`,
    )
    this.addSql(
      `create index "autoscale_decisions_service_index" on "autoscale_decisions" ("service_uuid", "position");`,
    )

    this.addSql(
      `create table "autoscale_configurations" ("service_uuid" uuid not null, "user_uuid" uuid not null, "created_at" timestamptz(3) not null default now(), "deleted_at" timestamptz(3) null, "workflow_started_at" timestamptz(3) null, "master_uuid" uuid null, "min_size" int not null, "max_size" int not null, "warmup_ms" int not null, "cooldown_ms" int not null, "policies" jsonb not null, "target" int null, primary key ("service_uuid"));`,
    )
    this.addSql(
      `create index "autoscale_configurations_master_index" on "autoscale_configurations" ("master_uuid");`,
    )
    this.addSql(
      `create index autoscale_configurations_unstarted_index on autoscale_configurations (created_at) where workflow_started_at is null;`,
    )
    this.addSql(
      `create index autoscale_configurations_deleted_index on autoscale_configurations (deleted_at) where deleted_at is not null;`,
    )

    this.addSql(
      `alter table "instances" add "clone_of" uuid null, add "retired_at" timestamptz(3) null, add "retire_drain_ms" int null;`,
    )
    this.addSql(
      `create index instances_retired_index on instances (retired_at) where retired_at is not null and deleted_at is null;`,
    )

    this.addSql(
      `alter table "autoscale_decisions" add constraint "autoscale_decisions_service_uuid_foreign" foreign key ("service_uuid") references "services" ("uuid") on delete cascade;`,
    )

    this.addSql(
      `alter table "autoscale_configurations" add constraint "autoscale_configurations_service_uuid_foreign" foreign key ("service_uuid") references "services" ("uuid") on update cascade on delete cascade;`,
    )
    this.addSql(
      `alter table "autoscale_configurations" add constraint "autoscale_configurations_user_uuid_foreign" foreign key ("user_uuid") references "users" ("uuid");`,
    )
    this.addSql(
      `alter table "autoscale_configurations" add constraint "autoscale_configurations_master_uuid_foreign" foreign key ("master_uuid") references "instances" ("uuid") on delete set null;`,
    )
  }

  override down(): void | Promise<void> {
    for (const table of ['autoscale_decisions', 'autoscale_configurations'])
      this.addSql(`drop table if exists "${table}" cascade;`)
    this.addSql(`drop index "instances_retired_index";`)
    this.addSql(
      `alter table "instances" drop column "clone_of", drop column "retired_at", drop column "retire_drain_ms";`,
    )
  }
}
