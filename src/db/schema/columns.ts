import { strict as assert } from 'node:assert'
import { entities } from './entities.ts'
import type { Row, Tables } from './tables.ts'

/**
 * The columns of a table as the entity has them, without those in `left`. Queries name their columns instead
 * of selecting all: the columns of a prepared statement must not change when a newer version adds a column.
 */
export function columnsOf<Table extends keyof Tables, Left extends keyof Row<Table> = never>(
  table: Table,
  left: readonly Left[] = [],
): readonly Exclude<keyof Row<Table>, Left>[] {
  const entity = entities.find(({ meta }) => camelCase(meta.tableName) === table)
  assert(entity, `no entity has the table ${table}`)
  const columns = Object.entries(entity.properties).map(([name, property]) => columnOf(name, property))
  return columns.filter((column) => !(left as readonly string[]).includes(column)) as never
}

interface Property {
  readonly primary?: boolean
  /** Only for a reference: the entity to which it refers. */
  readonly entity?: () => { readonly properties: object }
}

/**
 * The column of a property. The column of a reference ends with the name of the other table's primary key:
 * `userUuid`.
 */
function columnOf(name: string, property: unknown): string {
  const { entity } = resolved(property)
  if (entity === undefined) return name
  const keys = Object.entries(entity().properties).filter(([, other]) => resolved(other).primary)
  const [key = ''] = keys.map(([of, other]) => columnOf(of, other))
  return `${name}${key.charAt(0).toUpperCase()}${key.slice(1)}`
}

function resolved(property: unknown): Property {
  return typeof property === 'function' ? resolved((property as () => unknown)()) : (property as Property)
}

function camelCase(name: string): string {
  return name.replaceAll(/_(.)/g, (_all, letter: string) => letter.toUpperCase())
}
