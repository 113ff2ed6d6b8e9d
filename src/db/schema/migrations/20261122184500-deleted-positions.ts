import { Migration } from '@mikro-orm/migrations'

/** What these are for stands in `src/db/list-position.ts`. */
export class Migration20261122184500_deleted_positions extends Migration {
  override name = 'Migration20261122184500_deleted_positions'

  override up(): void | Promise<void> {
    this.addSql(
      `create table "deleted_positions" ("uuid" uuid not null, "number" bigserial, "list" text not null, "user_uuid" uuid not null, "position" bigint not null, primary key ("uuid"));`,
    )
    this.addSql(
      `create unique index "deleted_positions_owner_index" on "deleted_positions" ("user_uuid", "list", "number");`,
    )
    this.addSql(keepPosition)
    for (const list of lists) {
      this.addSql(
        `create trigger ${list}_keep_position after delete on ${list} referencing old table as deleted
         for each statement execute function keep_position();`,
      )
    }
  }

  override down(): void | Promise<void> {
    this.addSql(`drop function "keep_position" cascade;`)
    this.addSql(`drop table "deleted_positions" cascade;`)
  }
}

const lists = ['instances', 'services', 'certificates', 'volumes'] as const

/**
 * Keeps the 2000 newest entries of each user and list, which is twice the longest page, so that what a user
 * leaves behind is bounded. It skips old entries that another transaction is removing at this moment: no
 * delete waits for another one here.
 */
const keepPosition = `create function keep_position() returns trigger language plpgsql as $$
   begin
     insert into deleted_positions (uuid, list, user_uuid, position)
       select uuid, tg_table_name, user_uuid, position from deleted on conflict (uuid) do nothing;
     delete from deleted_positions where uuid in (
       select forgotten.uuid from (select distinct user_uuid from deleted) as owners,
         lateral (select uuid from deleted_positions as kept
           where kept.user_uuid = owners.user_uuid and kept.list = tg_table_name
             and kept.number <= (select number from deleted_positions as newer
               where newer.user_uuid = owners.user_uuid and newer.list = tg_table_name
               order by number desc offset 2000 limit 1)
           for update skip locked) as forgotten);
     return null;
   end $$;`
