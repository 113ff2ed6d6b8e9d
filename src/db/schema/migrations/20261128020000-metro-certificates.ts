import { Migration } from '@mikro-orm/migrations'

/** The certificate of the metro domain, for gateways on machines that joined. */
export class Migration20261128020000_metro_certificates extends Migration {
  override name = 'Migration20261128020000_metro_certificates'

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table metro_certificates (
     id text not null,
     chain text not null,
     key_sealed text not null,
     feed_xid xid8 not null default pg_current_xact_id(),
     constraint metro_certificates_pkey primary key (id)
   )`,
  'create index metro_certificates_feed_index on metro_certificates (feed_xid)',
  `create trigger metro_certificates_feed_insert after insert on metro_certificates for each statement execute function feed_tell('routes')`,
  `create trigger metro_certificates_feed_delete after delete on metro_certificates for each row execute function feed_bury('routes', 'metro')`,
  `create trigger metro_certificates_feed_update before update on metro_certificates for each row
   when ((old.chain, old.key_sealed) is distinct from (new.chain, new.key_sealed))
   execute function feed_touch('routes')`,
]
