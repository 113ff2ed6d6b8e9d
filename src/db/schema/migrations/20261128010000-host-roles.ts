import { Migration } from '@mikro-orm/migrations'

/** What machines do besides running instances. Those from before have no role. */
export class Migration20261128010000_host_roles extends Migration {
  override name = 'Migration20261128010000_host_roles'

  override up(): void {
    for (const table of ['host_invitations', 'joined_hosts'])
      this.addSql(`alter table ${table} add column roles jsonb not null default '[]'`)
  }
}
