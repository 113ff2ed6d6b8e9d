import { Migration } from '@mikro-orm/migrations'

/** The events of users, and the notification of those who follow them. */
export class Migration20261126084513_events extends Migration {
  override name = 'Migration20261126084513_events'

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table events (
     position bigserial primary key,
     xid xid8 not null default pg_current_xact_id(),
     user_uuid uuid not null,
     at timestamptz(3) not null default now(),
     kind text not null,
     object_uuid uuid null,
     object_name text not null,
     state_before text null,
     state_after text null,
     why text not null,
     asked_by text not null,
     asker_name text null,
     request_id text null,
     facts jsonb null
   )`,
  'create index events_user_index on events (user_uuid, xid, position)',
  'create index events_object_index on events (object_uuid, xid, position)',
  `create function events_tell() returns trigger language plpgsql as $$
   begin
     perform pg_notify('roost_event', user_uuid::text) from (select distinct user_uuid from written) as users;
     return null;
   end $$;`,
  `create trigger events_insert after insert on events referencing new table as written
   for each statement execute function events_tell();`,
]
