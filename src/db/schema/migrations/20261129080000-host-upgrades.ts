import { Migration } from '@mikro-orm/migrations'

/** The upgrade that a host told last. */
export class Migration20261129080000_host_upgrades extends Migration {
  override name = 'Migration20261129080000_host_upgrades'

  override up(): void {
    this.addSql('alter table nodes add upgrade jsonb null')
  }
}
