import { Migration } from '@mikro-orm/migrations'

/**
 * A host is told the names of its users' instances on other hosts too. So a deleted row is remembered with
 * its user.
 */
export class Migration20261127110000_names_across_hosts extends Migration {
  override name = 'Migration20261127110000_names_across_hosts'

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  'alter table feed_gone add column user_uuid uuid null',
  // The id of a node may be used again, and that node may be removed too. Its entry then exists already.
  `create or replace function feed_bury() returns trigger language plpgsql as $$
   begin
     insert into feed_gone (what, id, node_id, user_uuid)
       values (tg_argv[1], coalesce(to_jsonb(old) ->> 'uuid', to_jsonb(old) ->> 'id'), to_jsonb(old) ->> 'node_id',
         (to_jsonb(old) ->> 'user_uuid')::uuid)
       on conflict (what, id) do update set xid = excluded.xid, at = excluded.at, node_id = excluded.node_id,
         user_uuid = excluded.user_uuid;
     perform pg_notify('roost_feed', tg_argv[0]);
     return null;
   end $$;`,
  `create index instances_host_users_index on instances (node_id, user_uuid, feed_xid) where deleted_at is null`,
]
