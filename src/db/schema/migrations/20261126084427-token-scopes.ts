import { Migration } from '@mikro-orm/migrations'

/** Tokens with scopes, for named services, and with an expiry. Tokens from before keep all rights. */
export class Migration20261126084427_token_scopes extends Migration {
  override name = 'Migration20261126084427_token_scopes'

  override up(): void {
    this.addSql(
      'alter table tokens add scopes jsonb null, add services jsonb null, add expires_at timestamptz(3) null',
    )
  }
}
