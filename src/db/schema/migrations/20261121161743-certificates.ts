import { Migration } from '@mikro-orm/migrations'

export class Migration20261121161743_certificates extends Migration {
  override name = 'Migration20261121161743_certificates'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "authority_accounts" ("directory" text not null, "account_url" text null, "key_sealed" text not null, "chain" text null, "created_at" timestamptz(3) not null default now(), primary key ("directory"));`,
    )

    this.addSql(
      `create table "certificate_orders" ("certificate_uuid" uuid not null, "directory" text not null, "order_url" text null, "key_sealed" text not null, "created_at" timestamptz(3) not null default now(), primary key ("certificate_uuid"));`,
    )

    this.addSql(
      `create table "certificate_attempts" ("position" bigserial primary key, "certificate_uuid" uuid not null, "number" int not null, "started_at" timestamptz(3) not null default now(), "ended_at" timestamptz(3) null, "report" jsonb not null);`,
    )
    this.addSql(
      `alter table "certificate_attempts" add constraint "certificate_attempts_number_unique" unique ("certificate_uuid", "number");`,
    )

    this.addSql(
      `create table "acme_challenges" ("id" text not null, "certificate_uuid" uuid not null, "kind" text not null, "fqdn" text not null, "key_authorization" text not null, "chain" text null, "key_sealed" text null, "created_at" timestamptz(3) not null default now(), "feed_xid" xid8 not null default pg_current_xact_id(), primary key ("id"));`,
    )
    this.addSql(`create index "acme_challenges_certificate_index" on "acme_challenges" ("certificate_uuid");`)
    this.addSql(`create index "acme_challenges_feed_index" on "acme_challenges" ("feed_xid");`)

    this.addSql(
      `alter table "certificates" add "origin" text not null default 'requested', add "workflow_started_at" timestamptz(3) null, add "subject" text null, add "issuer" text null, add "serial_number" text null, add "not_before" timestamptz(3) null, add "not_after" timestamptz(3) null, add "revision" bigint not null default '0', add "attempt" int not null default 0, add "next_at" timestamptz(3) null, add "failure" text null;`,
    )
    this.addSql(
      `create index certificates_unstarted_index on certificates (created_at) where origin = 'requested' and workflow_started_at is null;`,
    )
    this.addSql(
      `alter table "certificates" add constraint "certificates_origin_check" check ("origin" in ('uploaded', 'requested'));`,
    )

    this.addSql(
      `alter table "certificate_orders" add constraint "certificate_orders_certificate_uuid_foreign" foreign key ("certificate_uuid") references "certificates" ("uuid") on update cascade on delete cascade;`,
    )

    this.addSql(
      `alter table "certificate_attempts" add constraint "certificate_attempts_certificate_uuid_foreign" foreign key ("certificate_uuid") references "certificates" ("uuid") on delete cascade;`,
    )

    this.addSql(
      `alter table "acme_challenges" add constraint "acme_challenges_certificate_uuid_foreign" foreign key ("certificate_uuid") references "certificates" ("uuid") on delete cascade;`,
    )
    this.addSql(
      `alter table "acme_challenges" add constraint "acme_challenges_kind_check" check ("kind" in ('http-01', 'tls-alpn-01'));`,
    )
    this.addSql(
      `create trigger acme_challenges_feed_insert after insert on acme_challenges for each statement execute function feed_tell('routes');`,
    )
    this.addSql(
      `create trigger acme_challenges_feed_delete after delete on acme_challenges for each row execute function feed_bury('routes', 'challenge');`,
    )
  }

  override down(): void | Promise<void> {
    for (const table of [
      'acme_challenges',
      'certificate_attempts',
      'certificate_orders',
      'authority_accounts',
    ])
      this.addSql(`drop table if exists "${table}" cascade;`)
    this.addSql(`drop index "certificates_unstarted_index";`)
    this.addSql(`alter table "certificates" drop constraint "certificates_origin_check";`)
    this.addSql(
      `alter table "certificates" drop column "origin", drop column "workflow_started_at", drop column "subject", drop column "issuer", drop column "serial_number", drop column "not_before", drop column "not_after", drop column "revision", drop column "attempt", drop column "next_at", drop column "failure";`,
    )
  }
}
