import { Migration } from '@mikro-orm/migrations'

export class Migration20261123032100_authority_orders extends Migration {
  override name = 'Migration20261123032100_authority_orders'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "authority_orders" ("number" bigserial primary key, "directory" text not null, "user_uuid" uuid not null, "fqdn" text not null, "is_renewal" boolean not null, "ordered_at" timestamptz(3) not null);`,
    )
    this.addSql(`create index "authority_orders_time_index" on "authority_orders" ("ordered_at");`)
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "authority_orders" cascade;`)
  }
}
