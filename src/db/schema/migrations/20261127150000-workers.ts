import { Migration } from '@mikro-orm/migrations'

/** The workers that run, so that each notices when another one is gone. */
export class Migration20261127150000_workers extends Migration {
  override name = 'Migration20261127150000_workers'

  override up(): void {
    this.addSql(`create table workers (
      id text not null,
      heard_at timestamptz(3) not null default now(),
      constraint workers_pkey primary key (id)
    )`)
  }
}
