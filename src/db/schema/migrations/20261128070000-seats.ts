import { Migration } from '@mikro-orm/migrations'

/** Which instances keep a private address of another host, because they moved. */
export class Migration20261128070000_seats extends Migration {
  override name = 'Migration20261128070000_seats'

  override up(): void {
    this.addSql('alter table instances add seat_ip text null')
    this.addSql('create unique index instances_seat_unique on instances (node_id, seat_ip)')
  }
}
