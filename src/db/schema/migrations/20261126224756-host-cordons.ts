import { Migration } from '@mikro-orm/migrations'

/** Hosts on which an administrator lets nothing new be placed. Those from before are not cordoned. */
export class Migration20261126224756_host_cordons extends Migration {
  override name = 'Migration20261126224756_host_cordons'

  override up(): void {
    this.addSql('alter table nodes add cordoned_at timestamptz(3) null')
  }
}
