import { Migration } from '@mikro-orm/migrations'

/** What administrators note about a host. */
export class Migration20261128010000_host_labels extends Migration {
  override name = 'Migration20261128010000_host_labels'

  override up(): void {
    this.addSql(`alter table nodes add column labels jsonb not null default '{}'`)
  }
}
