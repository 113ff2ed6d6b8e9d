import { Migration } from '@mikro-orm/migrations'

/** How the hosts of an installation find each other in the mesh. */
export class Migration20261127090000_mesh extends Migration {
  override name = 'Migration20261127090000_mesh'

  override up(): void {
    this.addSql('alter table nodes add column mesh_key text null, add column mesh_endpoint text null')
  }
}
