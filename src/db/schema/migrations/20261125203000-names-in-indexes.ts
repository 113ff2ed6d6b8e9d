import { Migration } from '@mikro-orm/migrations'

/** The indexes for lists hold UUIDs and names too, so that PostgreSQL reads no rows for lists of names. */
export class Migration20261125203000_names_in_indexes extends Migration {
  override name = 'Migration20261125203000_names_in_indexes'

  override up(): void {
    this.addSql('drop index instances_page_index')
    this.addSql(
      'create index instances_page_index on instances (user_uuid, position) include (uuid, name) where deleted_at is null',
    )
    this.addSql('drop index instances_state_index')
    this.addSql(
      'create index instances_state_index on instances (user_uuid, state, position) include (uuid, name) where deleted_at is null',
    )
  }
}
