import { Migration } from '@mikro-orm/migrations'

/** Which lost hosts never come back, because an administrator removed them. */
export class Migration20261128060000_removed_hosts extends Migration {
  override name = 'Migration20261128060000_removed_hosts'

  override up(): void {
    this.addSql('alter table nodes add removed_at timestamptz(3) null')
  }
}
