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
        add told_version int not null default 0
    `)
    this.addSql(
      'create index instances_untold_index on instances (created_at) where config_version > told_version',
    )
  }
}
