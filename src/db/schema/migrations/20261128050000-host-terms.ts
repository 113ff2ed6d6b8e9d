import { Migration } from '@mikro-orm/migrations'

/** For how long hosts keep their VMs without an answer, and which hosts are lost. */
export class Migration20261128050000_host_terms extends Migration {
  override name = 'Migration20261128050000_host_terms'

  override up(): void {
    this.addSql(
      'alter table nodes add term_ms int null, add loss int not null default 0, add lost_at timestamptz(3) null',
    )
  }
}
