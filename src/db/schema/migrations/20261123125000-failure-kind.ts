import { Migration } from '@mikro-orm/migrations'

/**
 * Of which kind the failure of the last start was: a host without room is told from an application that does
 * not start.
 */
export class Migration20261123125000_failure_kind extends Migration {
  override name = 'Migration20261123125000_failure_kind'

  override up(): void | Promise<void> {
    this.addSql(`alter table "instances" add "failure_kind" text null;`)
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "instances" drop column "failure_kind";`)
  }
}
