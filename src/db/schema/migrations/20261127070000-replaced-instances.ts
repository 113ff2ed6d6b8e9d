import { Migration } from '@mikro-orm/migrations'

/** How many instances a rollout replaces. Of one that is under way, that is not known: no one is missed. */
export class Migration20261127070000_replaced_instances extends Migration {
  override name = 'Migration20261127070000_replaced_instances'

  override up(): void {
    this.addSql('alter table rollouts add replaced int not null default 0')
  }
}
