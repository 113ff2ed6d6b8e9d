import assert from 'node:assert/strict'
import path from 'node:path'
import { assertNone } from './assert-none.ts'
import { importsOf, isFile, isSource, reachedFrom, startedBy, textOf, writtenFiles } from './sources.ts'
import type { Import } from './sources.ts'

/** The folders that each folder may import from, beside itself. `CONTRIBUTING.md` has the same table. */
const permitted: Readonly<Record<string, readonly string[]>> = {
  'src/domain': [],
  'src/primitives': [],
  'src/x509': [],
  'src/trust': ['src/domain', 'src/primitives', 'src/x509'],
  'src/tracing': ['src/primitives'],
  'src/client': [],
  'src/contract': ['src/domain'],
  'src/db': ['src/domain'],
  'src/registry': ['src/domain'],
  'src/relay': ['src/domain'],
  'src/control': ['src/domain', 'src/db', 'src/primitives', 'src/trust'],
  'src/explain': ['src/domain', 'src/db', 'src/control', 'src/primitives'],
  'src/api': [
    'src/contract',
    'src/domain',
    'src/db',
    'src/control',
    'src/explain',
    'src/primitives',
    'src/registry',
    'src/trust',
    'src/x509',
  ],
  'src/host': ['src/domain', 'src/primitives', 'src/registry', 'src/trust'],
  'src/gateway': ['src/domain', 'src/primitives', 'src/trust'],
  'src/acme': ['src/domain', 'src/x509'],
  'src/launch': ['src/domain', 'src/db', 'src/primitives', 'src/registry', 'src/trust', 'src/x509'],
  'src/cli': [
    'src/domain',
    'src/contract',
    'src/db',
    'src/registry',
    'src/control',
    'src/explain',
    'src/api',
    'src/host',
    'src/primitives',
    'src/gateway',
    'src/launch',
    'src/acme',
    'src/x509',
  ],
  'src/commands': ['src/client', 'src/domain', 'src/registry'],
  'src/settings': ['src/domain', 'src/contract', 'src/db', 'src/trust'],
  console: ['src/client', 'src/domain'],
  workflows: ['src/domain'],
  activities: ['src/domain', 'src/db', 'src/host', 'src/acme', 'src/primitives', 'src/x509'],
}

/** The packages that run in a workflow's sandbox. */
const workflowPackages = new Set(['@temporalio/workflow', '@temporalio/common'])
/** The packages that the client uses, in Node and in browsers. */
const clientPackages = new Set(['openapi-fetch', 'eventsource-parser'])
/**
 * The files of workflows that other folders may import. They have messages and search attributes, and never
 * what a workflow does.
 */
const messages = /^workflows\/([a-z]+\/messages|entity-messages|search-attributes)\.ts$/

/** The one file of the contract that the commands of users import. It imports nothing. */
const limits = 'src/contract/limits.ts'

const sources = writtenFiles().filter(isSource)
const product = sources.filter((file) => /^(src|workflows|activities|console)\//.test(file))

/** Returns the folder of the table, such as `src/db` or `workflows`. */
function folderOf(file: string): string {
  const parts = file.split(path.sep)
  return parts[0] === 'src' ? `src/${parts[1]}` : String(parts[0])
}

function offences(files: readonly string[], isOffence: (one: Import, file: string) => boolean): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((one) => isOffence(one, file))
      .map((one) => `${file} imports ${one.specifier}`),
  )
}

function mayReach(one: Import, file: string): boolean {
  if (one.file === undefined) return true
  const from = folderOf(file)
  const to = folderOf(one.file)
  if (from === to || from === 'src/bin') return true
  if (from === 'workflows' && to === 'activities') return one.typeOnly
  if (from === 'src/commands' && to === 'src/contract') return one.file === limits
  if (from === 'src/control' && to === 'workflows') return messages.test(one.file)
  if (from === 'src/api' && to === 'workflows') return one.typeOnly && messages.test(one.file)
  return permitted[from]?.includes(to) ?? false
}

describe('directions of imports', () => {
  it('are those of the table, for every folder of the product', () => {
    const folders = new Set(product.map(folderOf))
    folders.delete('src/bin')
    assertNone(
      [...folders].filter((folder) => permitted[folder] === undefined),
      'folders without a row in the table',
    )
    assertNone(offences(product, (one, file) => !mayReach(one, file)))
  })

  it('leave the product unaware of its tests and benchmarks', () => {
    assertNone(offences(product, (one) => one.file !== undefined && /^(test|bench)\//.test(one.file)))
  })

  it('keep a benchmark from everything that fetches: set-up brings what it needs', () => {
    const benchmarks = sources.filter((file) => file.startsWith('bench/'))
    assert.ok(benchmarks.includes('bench/run.ts'))
    // The only files of set-up that a benchmark may import: what it needs, and where the libraries of
    // extracted programs are.
    const permitted = new Set(['setup/needs.mjs', 'setup/libraries.mjs', 'setup/command.mjs'])
    const reached = [...reachedFrom(benchmarks)].filter((file) => /^(bench|test)\//.test(file))
    const led = new Set(
      reached.flatMap((file) => [...importsOf(file).map((one) => one.file), ...startedBy(file)]),
    )
    assertNone(
      [...led].filter((file) => file?.startsWith('setup/') && !permitted.has(file)).map(String),
      'a benchmark reaches these',
    )
    const fetching =
      /(?<![\w-])(apt-get|apt|npm|npx|go|mvn|wget|git)['"`]|\b(apt-get|go|npm) (install|download|ci)\b/
    assertNone(
      [...benchmarks, ...permitted].filter((file) => fetching.test(textOf(file))),
      'these name a program that fetches',
    )
  })

  it('keep the domain free of packages and of the modules of Node itself', () => {
    const domain = sources.filter((file) => file.startsWith('src/domain/'))
    assert.ok(domain.length > 0)
    assertNone(offences(domain, (one) => one.file === undefined))
  })

  it('keep the client free of the modules of Node, because browsers run it, too', () => {
    const client = sources.filter((file) => file.startsWith('src/client/'))
    assert.ok(client.length > 0)
    assertNone(offences(client, (one) => one.file === undefined && !clientPackages.has(one.specifier)))
  })

  it('keep the limits free of imports, because the commands of users read them without the contract', () => {
    assert.ok(sources.includes(limits))
    assertNone(offences([limits], () => true))
  })

  it('let workflows load only what runs in their sandbox', () => {
    const workflows = sources.filter((file) => file.startsWith('workflows/'))
    assertNone(
      offences(
        workflows,
        (one) => one.file === undefined && !one.typeOnly && !workflowPackages.has(one.specifier),
      ),
    )
  })

  it('name files that exist', () => {
    assertNone(offences(sources, (one) => one.file !== undefined && !isFile(one.file)))
  })
})

describe('the domain', () => {
  it('reads no clock and draws no random number', () => {
    const pattern =
      /\b(Date\.now|new Date\(\)|performance\.now|Math\.random|randomUUID|setTimeout|setInterval)\b/
    const impure = product
      .filter((file) => file.startsWith('src/domain/'))
      .filter((file) => pattern.test(textOf(file)))
    assertNone(impure)
  })
})
