import { Migration } from '@mikro-orm/migrations'

export class Migration20261121232700_state_since extends Migration {
  override name = 'Migration20261121232700_state_since'

  override up(): void | Promise<void> {
    this.addSql(`alter table "instances" add "state_since" timestamptz(3) not null default now();`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "instances" drop column "state_since";`)
  }
}
