import { Migration } from '@mikro-orm/migrations'

/** How much of a host the unpacked images of an account may take, and how much they take on each host. */
export class Migration20261123053000_image_quota extends Migration {
  override name = 'Migration20261123053000_image_quota'

  override up(): void | Promise<void> {
    // Hosts have bounded it by this number so far.
    this.addSql(`alter table "users" add "hard_image_mb" int not null default 16384;`)
    // New accounts get theirs from the program, as every other quota.
    this.addSql(`alter table "users" alter column "hard_image_mb" drop default;`)
    this.addSql(`alter table "nodes" add "image_bytes" jsonb not null default '{}';`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "users" drop column "hard_image_mb";`)
    this.addSql(`alter table "nodes" drop column "image_bytes";`)
  }
}
