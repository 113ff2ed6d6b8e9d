import type { KyselyPlugin, RootOperationNode } from 'kysely'
import type { Database } from '../../src/db/database.ts'
import type { Db } from '../../src/db/schema/tables.ts'
import type { MortalCalls } from './mortal-calls.ts'

/**
 * The same database, with points of death before and after each transaction and each write. At `transaction
 * 2, after` the second transaction is committed. A write is named by its verb and table, as in `update
 * certificate_orders 1, before`.
 */
export function mortalDatabase(opened: Database, calls: MortalCalls): Database {
  const db = opened.db.withPlugin(mortalWrites(calls))
  return { ...opened, db: withMortalTransactions(db, calls) }
}

function mortalWrites({ begin, end }: MortalCalls): KyselyPlugin {
  const underWay = new WeakMap<object, string>()
  return {
    transformQuery({ node, queryId }) {
      const name = writeOf(node)
      if (name !== undefined) {
        underWay.set(queryId, name)
        begin(name)
      }
      return node
    },
    transformResult({ queryId, result }) {
      const name = underWay.get(queryId)
      if (name !== undefined) end(name)
      return Promise.resolve(result)
    },
  }
}

const verbs: Readonly<Record<string, string>> = {
  InsertQueryNode: 'insert',
  UpdateQueryNode: 'update',
  DeleteQueryNode: 'delete',
}

/** The first write of a statement; undefined if it only reads. */
function writeOf(node: RootOperationNode): string | undefined {
  const own = verbs[node.kind]
  const within = 'with' in node ? (node.with?.expressions ?? []) : []
  const first = within.map(({ expression }) => writeOf(expression as RootOperationNode)).find(Boolean)
  if (first !== undefined || own === undefined) return first
  return `${own} ${tableIn(node)}`
}

/** The first name of a table in the statement. */
function tableIn(node: object): string {
  const text = JSON.stringify(node)
  return (
    /"kind":"SchemableIdentifierNode","identifier":\{"kind":"IdentifierNode","name":"(\w+)"/.exec(
      text,
    )?.[1] ?? ''
  )
}

function withMortalTransactions(db: Db, { passing }: MortalCalls): Db {
  return new Proxy(db, {
    get(target, name) {
      if (name === 'transaction') {
        return () => ({
          execute: (work: (db: Db) => Promise<unknown>) =>
            passing('transaction', () => target.transaction().execute(work)),
        })
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
