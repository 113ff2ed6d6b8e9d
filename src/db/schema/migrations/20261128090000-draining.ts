import { Migration } from '@mikro-orm/migrations'

/** Since when a host is to be emptied. */
export class Migration20261128090000_draining extends Migration {
  override name = 'Migration20261128090000_draining'

  override up(): void {
    this.addSql('alter table nodes add draining_at timestamptz(3) null')
  }
}
