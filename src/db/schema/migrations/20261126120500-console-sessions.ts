import { Migration } from '@mikro-orm/migrations'

/** The sessions of people who signed in to the console. */
export class Migration20261126120500_console_sessions extends Migration {
  override name = 'Migration20261126120500_console_sessions'

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table console_sessions (
     secret_sha256 text not null,
     token_uuid uuid not null,
     created_at timestamptz(3) not null default now(),
     last_used_at timestamptz(3) not null,
     constraint console_sessions_pkey primary key (secret_sha256),
     constraint console_sessions_token_uuid_foreign foreign key (token_uuid) references tokens (uuid) on delete cascade
   )`,
  'create index console_sessions_token_index on console_sessions (token_uuid)',
]
