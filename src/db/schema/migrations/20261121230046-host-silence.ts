import { Migration } from '@mikro-orm/migrations'

export class Migration20261121230046_host_silence extends Migration {
  override name = 'Migration20261121230046_host_silence'

  override up(): void | Promise<void> {
    this.addSql(`alter table "nodes" add "heard_since" timestamptz(3) not null default now();`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "nodes" drop column "heard_since";`)
  }
}
