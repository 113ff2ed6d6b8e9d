import { Migration } from '@mikro-orm/migrations'

/** Schedules of users, and their last runs. */
export class Migration20261127030000_schedules extends Migration {
  override name = 'Migration20261127030000_schedules'

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table schedules (
     uuid uuid not null,
     position bigserial,
     user_uuid uuid not null,
     name text not null,
     created_at timestamptz(3) not null default now(),
     changed_at timestamptz(3) not null default now(),
     deleted_at timestamptz(3) null,
     cron text not null,
     time_zone text not null,
     paused boolean not null,
     catch_up_s int not null,
     overlap text not null,
     action jsonb not null,
     env_sealed text null,
     version int not null default 1,
     told_version int not null default 0,
     primary key (uuid)
   )`,
  'alter table schedules add constraint schedules_user_uuid_foreign foreign key (user_uuid) references users (uuid)',
  `alter table schedules add constraint schedules_overlap_check check (overlap in ('skip', 'queue', 'allow', 'cancel'))`,
  'create index schedules_page_index on schedules (user_uuid, position) where deleted_at is null',
  'create index schedules_untold_index on schedules (changed_at) where told_version < version and deleted_at is null',
  'create index schedules_deleted_index on schedules (deleted_at) where deleted_at is not null',
  'create unique index schedules_name_unique on schedules (user_uuid, name) where deleted_at is null',
  `create trigger schedules_keep_position after delete on schedules referencing old table as deleted
   for each statement execute function keep_position();`,
  `create table schedule_runs (
     uuid uuid not null,
     position bigserial,
     schedule_uuid uuid not null,
     run_key text not null,
     scheduled_at timestamptz(3) not null,
     started_at timestamptz(3) not null default now(),
     ended_at timestamptz(3) null,
     result text not null default 'running',
     reason text null,
     timeout_ms int not null default 0,
     instance_uuid uuid null,
     instance_name text null,
     stop_asked_at timestamptz(3) null,
     exit_code int null,
     stop_reason int null,
     log_tail text null,
     primary key (uuid)
   )`,
  `alter table schedule_runs add constraint schedule_runs_schedule_uuid_foreign
   foreign key (schedule_uuid) references schedules (uuid) on delete cascade`,
  `alter table schedule_runs add constraint schedule_runs_result_check check (result in ('running', 'succeeded', 'failed'))`,
  'alter table schedule_runs add constraint schedule_runs_key_unique unique (schedule_uuid, run_key)',
  'create index schedule_runs_list_index on schedule_runs (schedule_uuid, position)',
]
