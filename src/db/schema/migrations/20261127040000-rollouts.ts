import { Migration } from '@mikro-orm/migrations'

/** New versions of services that are brought in beside the old ones. */
export class Migration20261127040000_rollouts extends Migration {
  override name = 'Migration20261127040000_rollouts'

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table rollouts (
     uuid uuid not null,
     position bigserial,
     user_uuid uuid not null,
     service_uuid uuid not null,
     created_at timestamptz(3) not null default now(),
     workflow_started_at timestamptz(3) null,
     asker jsonb not null,
     plan jsonb not null,
     changes jsonb not null,
     has_volumes boolean not null,
     was_persistent boolean not null,
     phase text not null default 'preparing',
     step int not null default 0,
     since timestamptz(3) not null default now(),
     progress jsonb not null default '{}',
     recalled_by jsonb null,
     revives boolean not null default false,
     reason text null,
     kept_until timestamptz(3) null,
     ended_at timestamptz(3) null,
     primary key (uuid)
   )`,
  'alter table rollouts add constraint rollouts_user_uuid_foreign foreign key (user_uuid) references users (uuid)',
  `alter table rollouts add constraint rollouts_service_uuid_foreign
   foreign key (service_uuid) references services (uuid) on delete cascade`,
  `alter table rollouts add constraint rollouts_phase_check
   check (phase in ('preparing', 'baking', 'kept', 'returning', 'done', 'returned'))`,
  'create index rollouts_list_index on rollouts (service_uuid, position)',
  'create index rollouts_unstarted_index on rollouts (created_at) where workflow_started_at is null and ended_at is null',
  `alter table services
     add rollout_uuid uuid null,
     add rollout_percent int null,
     add rollout_held boolean not null default false`,
  `alter table instances
     add rollout_uuid uuid null,
     add replaces uuid null`,
  'create index instances_rollout_index on instances (rollout_uuid)',
  // Gateways are told how the traffic is divided, and which instances are new.
  'drop trigger services_feed_update on services',
  `create trigger services_feed_update before update on services for each row
   when ((old.name, old.soft_limit, old.hard_limit, old.ports, old.rollout_uuid, old.rollout_percent, old.rollout_held)
     is distinct from (new.name, new.soft_limit, new.hard_limit, new.ports, new.rollout_uuid, new.rollout_percent, new.rollout_held))
   execute function feed_touch('routes');`,
  'drop trigger instances_feed_routes on instances',
  `create trigger instances_feed_routes before update on instances for each row
   when (((old.state, old.restarting, old.rollout_uuid) is distinct from (new.state, new.restarting, new.rollout_uuid)
       and new.service_uuid is not null)
     or old.service_uuid is distinct from new.service_uuid)
   execute function feed_touch('routes')`,
]
