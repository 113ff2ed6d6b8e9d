import { Migration } from '@mikro-orm/migrations'
import { references, tables } from './20261124224500-initial-tables.ts'

/**
 * The whole schema of the first release: tables and indexes as the entities have them, and the triggers,
 * which entities can not describe. `src/db/service/feed-read.ts` explains how the feed's parts fit together,
 * and `src/db/list-position.ts` what the kept positions are for.
 */
export class Migration20261124224500_initial extends Migration {
  override name = 'Migration20261124224500_initial'

  override up(): void {
    for (const statement of [...tables, ...references, ...feedTables, ...feedFunctions, ...feedTriggers])
      this.addSql(statement)
    this.addSql(keepPosition)
    for (const list of lists) {
      this.addSql(
        `create trigger ${list}_keep_position after delete on ${list} referencing old table as deleted
         for each statement execute function keep_position();`,
      )
    }
  }
}

const feedTables = [
  `create table feed_gone (
     what text not null,
     id text not null,
     node_id text null,
     xid xid8 not null default pg_current_xact_id(),
     at timestamptz(3) not null default now(),
     primary key (what, id)
   )`,
  'create index feed_gone_xid_index on feed_gone (xid)',
  'create index feed_gone_at_index on feed_gone (at)',
  'create table feed_forgotten ("only" boolean primary key check ("only"), xid xid8 not null)',
  `insert into feed_forgotten ("only", xid) values (true, '0')`,
]

/**
 * `tg_argv[0]` names the feed topics that the change concerns, with spaces between. Only
 * `feed_touch_service` has no such argument.
 */
const feedFunctions = [
  `create function feed_touch() returns trigger language plpgsql as $$
   begin
     new.feed_xid := pg_current_xact_id();
     perform pg_notify('roost_feed', tg_argv[0]);
     return new;
   end $$;`,
  `create function feed_tell() returns trigger language plpgsql as $$
   begin
     perform pg_notify('roost_feed', tg_argv[0]);
     return null;
   end $$;`,
  // The id of a node may be used again, and that node may be removed too. Its entry then exists already.
  `create function feed_bury() returns trigger language plpgsql as $$
   begin
     insert into feed_gone (what, id, node_id)
       values (tg_argv[1], coalesce(to_jsonb(old) ->> 'uuid', to_jsonb(old) ->> 'id'), to_jsonb(old) ->> 'node_id')
       on conflict (what, id) do update set xid = excluded.xid, at = excluded.at, node_id = excluded.node_id;
     perform pg_notify('roost_feed', tg_argv[0]);
     return null;
   end $$;`,
  // The feed shows domains with their service. A service that this same transaction made or deleted is shown
  // anyway.
  `create function feed_touch_service() returns trigger language plpgsql as $$
   begin
     update services set feed_xid = pg_current_xact_id()
       where uuid in (old.service_uuid, new.service_uuid) and feed_xid <> pg_current_xact_id();
     perform pg_notify('roost_feed', 'routes');
     return null;
   end $$;`,
]

const feedTriggers = [
  `create trigger services_feed_insert after insert on services for each statement execute function feed_tell('routes');`,
  `create trigger services_feed_delete after delete on services for each row execute function feed_bury('routes', 'service');`,
  `create trigger services_feed_update before update on services for each row
   when ((old.name, old.soft_limit, old.hard_limit, old.ports)
     is distinct from (new.name, new.soft_limit, new.hard_limit, new.ports))
   execute function feed_touch('routes');`,
  `create trigger domains_feed after insert or update or delete on domains for each row execute function feed_touch_service();`,
  `create trigger certificates_feed_insert after insert on certificates for each statement execute function feed_tell('routes');`,
  `create trigger certificates_feed_delete after delete on certificates for each row execute function feed_bury('routes', 'certificate');`,
  `create trigger certificates_feed_update before update on certificates for each row
   when ((old.common_name, old.state, old.chain, old.key_sealed)
     is distinct from (new.common_name, new.state, new.chain, new.key_sealed))
   execute function feed_touch('routes');`,
  `create trigger nodes_feed_insert after insert on nodes for each statement execute function feed_tell('routes');`,
  `create trigger nodes_feed_delete after delete on nodes for each row execute function feed_bury('routes', 'node');`,
  `create trigger nodes_feed_update before update on nodes for each row
   when ((old.agent_url, old.agent_secret) is distinct from (new.agent_url, new.agent_secret))
   execute function feed_touch('routes');`,
  `create trigger instances_feed_insert after insert on instances for each statement execute function feed_tell('routes names');`,
  `create trigger instances_feed_delete after delete on instances for each row execute function feed_bury('routes names', 'instance');`,
  `create trigger instances_feed_names before update on instances for each row
   when ((old.name, old.node_id, old.private_ip) is distinct from (new.name, new.node_id, new.private_ip)
     or old.deleted_at is distinct from new.deleted_at)
   execute function feed_touch('routes names');`,
  // The state of an instance without a service concerns no reader of the feed. So most writes of states end
  // here, without a call of the function.
  `create trigger instances_feed_routes before update on instances for each row
   when ((old.state <> new.state and new.service_uuid is not null)
     or old.service_uuid is distinct from new.service_uuid)
   execute function feed_touch('routes');`,
  `create trigger acme_challenges_feed_insert after insert on acme_challenges for each statement execute function feed_tell('routes');`,
  `create trigger acme_challenges_feed_delete after delete on acme_challenges for each row execute function feed_bury('routes', 'challenge');`,
]

const lists = ['instances', 'services', 'certificates', 'volumes'] as const

/**
 * Keeps the 2000 newest entries of each user and list, so that their number is bounded. That is twice the
 * longest page. It skips old entries that another transaction is removing at this moment, so that no delete
 * waits for another here.
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
