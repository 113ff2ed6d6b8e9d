import { CamelCasePlugin } from 'kysely'
import type { PluginTransformResultArgs, QueryResult, UnknownRow } from 'kysely'

/**
 * Lets queries write `masterUuid` for the column that the database calls `master_uuid`. In results, the
 * names of columns are translated, but never the names inside a JSON value. All rows of a result have the
 * same columns, so the names are translated once per result and not once per row: a list may have thousands
 * of rows.
 */
export class CamelCase extends CamelCasePlugin {
  override async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    const [first] = result.rows
    if (first === undefined) return Promise.resolve(result)
    const stored = Object.keys(first)
    const names = stored.map((name) => this.camelCase(name))
    if (names.every((name, index) => name === stored[index])) return Promise.resolve(result)
    const rows = result.rows.map((row) => {
      const renamed: UnknownRow = {}
      for (let index = 0; index < stored.length; index++) renamed[names[index]!] = row[stored[index]!]
      return renamed
    })
    return Promise.resolve({ ...result, rows })
  }
}
