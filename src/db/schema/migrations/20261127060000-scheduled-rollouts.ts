import { Migration } from '@mikro-orm/migrations'

/** Rollouts that schedules begin. */
export class Migration20261127060000_scheduled_rollouts extends Migration {
  override name = 'Migration20261127060000_scheduled_rollouts'

  override up(): void {
    this.addSql('alter table schedule_runs add rollout_uuid uuid null')
  }
}
