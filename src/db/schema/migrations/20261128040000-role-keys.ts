import { Migration } from '@mikro-orm/migrations'

/** The keys of the parts that roles add, one for each. */
export class Migration20261128040000_role_keys extends Migration {
  override name = 'Migration20261128040000_role_keys'

  override up(): void {
    this.addSql(`alter table joined_hosts add column role_keys jsonb not null default '{}'`)
  }
}
