import { Migration } from '@mikro-orm/migrations'

/** Changes of instances. Those from before were never changed. */
export class Migration20261127022000_instance_changes extends Migration {
  override name = 'Migration20261127022000_instance_changes'

  override up(): void {
    this.addSql(`
      alter table instances
        add tags jsonb not null default '[]',
        add config_version int not null default 0,
        add changed_properties jsonb not null default '{}',
        add renew_below int not null default 0,
        add renew_drain_ms int not null default 0,
        add held_memory_mb int not null default 0,
        add held_vcpus int not null default 0,
        add launched_version int not null default 0,
        add told_version int not null default 0,
        add restarting boolean not null default false
    `)
    // Gateways are told when an instance begins to restart, and when it does not any more.
    this.addSql('drop trigger instances_feed_routes on instances')
    this.addSql(`
      create trigger instances_feed_routes before update on instances for each row
        when (((old.state, old.restarting) is distinct from (new.state, new.restarting) and new.service_uuid is not null)
          or old.service_uuid is distinct from new.service_uuid)
        execute function feed_touch('routes')
    `)
    this.addSql(
      'create index instances_untold_index on instances (created_at) where config_version > told_version',
    )
  }
}
