import { Migration } from '@mikro-orm/migrations'

/** Where the processes of the API answer machines that joined, so that these find another one. */
export class Migration20261128030000_api_addresses extends Migration {
  override name = 'Migration20261128030000_api_addresses'

  override up(): void {
    this.addSql(
      `create table api_addresses (
         address text not null,
         heard_at timestamptz(3) not null default now(),
         constraint api_addresses_pkey primary key (address)
       )`,
    )
  }
}
