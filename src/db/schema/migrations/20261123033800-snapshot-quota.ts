import { Migration } from '@mikro-orm/migrations'

/** How much memory of its live instances an account may keep in standby. */
export class Migration20261123033800_snapshot_quota extends Migration {
  override name = 'Migration20261123033800_snapshot_quota'

  override up(): void | Promise<void> {
    this.addSql(`alter table "users" add "hard_snapshot_mb" int not null default 32768;`)
    // What an account could keep so far was bounded by its live memory: nobody loses any of that.
    this.addSql(`update "users" set "hard_snapshot_mb" = greatest(32768, "hard_live_memory_mb");`)
    // New accounts get theirs from the program, as every other quota.
    this.addSql(`alter table "users" alter column "hard_snapshot_mb" drop default;`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "users" drop column "hard_snapshot_mb";`)
  }
}
