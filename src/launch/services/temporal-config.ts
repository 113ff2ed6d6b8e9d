import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'

/** The directory `temporal-config/`. Both the dev server and the production server run with its files. */
const directory = path.resolve(import.meta.dirname, '../../../temporal-config')

/** Temporal's own numbers for the kinds of search attributes. */
export const searchAttributeKinds = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
} as const
export type SearchAttributeKind = keyof typeof searchAttributeKinds

export interface NamespaceConfig {
  readonly description: string
  readonly retentionDays: number
  readonly searchAttributes: Readonly<Record<string, SearchAttributeKind>>
}

export function readNamespaceConfig(): NamespaceConfig {
  const read = parse(readFileSync(path.join(directory, 'namespace.yaml'), 'utf8')) as {
    readonly description: string
    readonly retention_days: number
    readonly search_attributes: Readonly<Record<string, SearchAttributeKind>>
  }
  return {
    description: read.description,
    retentionDays: read.retention_days,
    searchAttributes: read.search_attributes,
  }
}

/** The dynamic configuration in the form of the dev server's flags: each value is JSON. */
export function readDynamicConfig(): readonly { readonly key: string; readonly json: string }[] {
  const read = parse(readFileSync(path.join(directory, 'dynamic-config.yaml'), 'utf8')) as Readonly<
    Record<string, readonly { readonly value: unknown }[]>
  >
  return Object.entries(read).map(([key, values]) => {
    const [only] = values
    if (only === undefined || values.length !== 1) {
      throw new Error(
        `${key} in dynamic-config.yaml has ${values.length} values; the dev server takes exactly one`,
      )
    }
    return { key, json: JSON.stringify(only.value) }
  })
}
