import { Migration } from '@mikro-orm/migrations'

export class Migration20261121122709_services extends Migration {
  override name = 'Migration20261121122709_services'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "services" ("uuid" uuid not null, "position" bigserial, "user_uuid" uuid not null, "name" text not null, "created_at" timestamptz(3) not null default now(), "persistent" boolean not null, "soft_limit" int not null, "hard_limit" int not null, "ports" jsonb not null, primary key ("uuid"));`,
    )
    this.addSql(`create index "services_page_index" on "services" ("user_uuid", "position");`)
    this.addSql(`alter table "services" add constraint "services_name_unique" unique ("user_uuid", "name");`)

    this.addSql(
      `create table "certificates" ("uuid" uuid not null, "position" bigserial, "user_uuid" uuid not null, "name" text not null, "created_at" timestamptz(3) not null default now(), "common_name" text not null, "state" text not null, "chain" text null, "key_sealed" text null, primary key ("uuid"));`,
    )
    this.addSql(`create index "certificates_page_index" on "certificates" ("user_uuid", "position");`)
    this.addSql(
      `alter table "certificates" add constraint "certificates_name_unique" unique ("user_uuid", "name");`,
    )

    this.addSql(
      `create table "domains" ("fqdn" text not null, "service_uuid" uuid not null, "ordinal" int not null, "certificate_uuid" uuid null, primary key ("fqdn"));`,
    )
    this.addSql(`create index "domains_service_index" on "domains" ("service_uuid");`)
    this.addSql(`create index "domains_certificate_index" on "domains" ("certificate_uuid");`)

    this.addSql(
      `alter table "instances" add "service_uuid" uuid null, add "standby_policy" text not null default 'off', add "standby_cooldown_ms" int not null default 1000, add "standby_stateful" boolean not null default false, add "snapshot_uuid" uuid null, add "standby_disabled" boolean not null default false;`,
    )
    this.addSql(
      `alter table "instances" add constraint "instances_service_uuid_foreign" foreign key ("service_uuid") references "services" ("uuid") on delete set null;`,
    )
    this.addSql(`create index "instances_service_index" on "instances" ("service_uuid");`)
    this.addSql(
      `alter table "instances" add constraint "instances_standby_policy_check" check ("standby_policy" in ('off', 'on', 'idle'));`,
    )

    this.addSql(
      `alter table "services" add constraint "services_user_uuid_foreign" foreign key ("user_uuid") references "users" ("uuid");`,
    )

    this.addSql(
      `alter table "certificates" add constraint "certificates_user_uuid_foreign" foreign key ("user_uuid") references "users" ("uuid");`,
    )
    this.addSql(
      `alter table "certificates" add constraint "certificates_state_check" check ("state" in ('pending', 'valid', 'error'));`,
    )

    this.addSql(
      `alter table "domains" add constraint "domains_service_uuid_foreign" foreign key ("service_uuid") references "services" ("uuid") on delete cascade;`,
    )
    this.addSql(
      `alter table "domains" add constraint "domains_certificate_uuid_foreign" foreign key ("certificate_uuid") references "certificates" ("uuid") on delete set null;`,
    )
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "instances" drop constraint "instances_service_uuid_foreign";`)
    this.addSql(`alter table "domains" drop constraint "domains_service_uuid_foreign";`)
    this.addSql(`alter table "domains" drop constraint "domains_certificate_uuid_foreign";`)

    this.addSql(`drop table if exists "services" cascade;`)
    this.addSql(`drop table if exists "certificates" cascade;`)
    this.addSql(`drop table if exists "domains" cascade;`)

    this.addSql(`drop index "instances_service_index";`)
    this.addSql(`alter table "instances" drop constraint "instances_standby_policy_check";`)
    this.addSql(
      `alter table "instances" drop column "service_uuid", drop column "standby_policy", drop column "standby_cooldown_ms", drop column "standby_stateful", drop column "snapshot_uuid", drop column "standby_disabled";`,
    )
  }
}
