import { Migration } from '@mikro-orm/migrations'

/** The machines that joined the installation, and the invitations with which they do. */
export class Migration20261127080000_joined_hosts extends Migration {
  override name = 'Migration20261127080000_joined_hosts'

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = [
  `create table host_invitations (
     secret_sha256 text not null,
     host_id text not null,
     created_at timestamptz(3) not null default now(),
     expires_at timestamptz(3) not null,
     used_at timestamptz(3) null,
     used_by_key text null,
     constraint host_invitations_pkey primary key (secret_sha256)
   )`,
  `create table joined_hosts (
     host_id text not null,
     key_sha256 text not null,
     joined_at timestamptz(3) not null default now(),
     constraint joined_hosts_pkey primary key (host_id)
   )`,
]
