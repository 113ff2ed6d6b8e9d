import { Migration } from '@mikro-orm/migrations'

/** Standby that users asked for. There was none before. */
export class Migration20261127052000_suspended extends Migration {
  override name = 'Migration20261127052000_suspended'

  override up(): void {
    this.addSql('alter table instances add suspended boolean not null default false')
  }
}
