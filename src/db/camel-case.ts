import { CamelCasePlugin } from 'kysely'
import type { PluginTransformResultArgs, QueryResult, UnknownRow } from 'kysely'

/**
 * Lets queries name `masterUuid` what the database calls `master_uuid`. Only names of columns are translated
 * in results, and never what a column of JSON holds. All rows of a result have the same columns, so their
 * names are translated once per result: a list has thousands of rows.
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
