import { Migration } from '@mikro-orm/migrations'

/** Moves of instances between hosts, and the addresses that they keep. */
export class Migration20261128080000_moves extends Migration {
  override name = 'Migration20261128080000_moves'

  override up(): void {
    this.addSql('alter table instances add "move" jsonb null')
    this.addSql('create index instances_moved_index on instances (private_ip) where seat_ip is not null')
    this.addSql(
      `create index instances_arriving_index on instances ((move -> 'to' ->> 'nodeId')) where move is not null`,
    )
  }
}
