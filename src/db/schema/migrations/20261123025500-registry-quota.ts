import { Migration } from '@mikro-orm/migrations'

/** What an account may keep in the image registry, and what it keeps there. */
export class Migration20261123025500_registry_quota extends Migration {
  override name = 'Migration20261123025500_registry_quota'

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "users" add "hard_registry_mb" int not null default 10240, add "registry_bytes" bigint not null default '0';`,
    )
    // New accounts get theirs from the program, as every other quota.
    this.addSql(`alter table "users" alter column "hard_registry_mb" drop default;`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "users" drop column "hard_registry_mb", drop column "registry_bytes";`)
  }
}
