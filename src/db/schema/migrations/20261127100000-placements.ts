import { Migration } from '@mikro-orm/migrations'

/**
 * The processors of hosts, and why instances are on their hosts. Neither is known of what was there before:
 * hosts tell their processors with their next heartbeat.
 */
export class Migration20261127100000_placements extends Migration {
  override name = 'Migration20261127100000_placements'

  override up(): void {
    this.addSql('alter table nodes add cpus int null')
    this.addSql('alter table instances add placement jsonb null')
    // A placement adds up what all instances of each host were promised, and reads no rows for that.
    this.addSql(
      'create index instances_node_promised_index on instances (node_id) include (memory_mb, vcpus)',
    )
  }
}
