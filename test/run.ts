import process from 'node:process'
import { runAll } from './runner/run-all.ts'
import { findGroups, groupNames } from './runner/groups.ts'
import { planLanes, roomNow } from './runner/lanes.ts'
import { currentNamespace, needsNamespace, runInNamespace } from './support/namespace.ts'

/**
 * `npm test` runs every group, `npm test -- unit host` the named ones. The last line is `N passed, N failed`.
 * With `CI=true` it prints the output of failures only, and gives each test file that failed a second try at
 * the end.
 */

const usage = `npm test [-- group ...]\n  groups: ${groupNames.join(', ')}\n`

async function main(names: readonly string[]): Promise<number> {
  if (names.includes('--help')) {
    process.stdout.write(usage)
    return 0
  }
  const groups = findGroups(import.meta.dirname, names)
  if (needsNamespace()) {
    const hosts = groups.filter((group) => group.isHost).map((group) => group.name)
    return runInNamespace('roost-test', hosts)
  }
  return runAll(groups, {
    lanes: planLanes({ ...roomNow(), namespaces: currentNamespace() !== undefined }),
    decides: process.env['CI'] === 'true',
  })
}

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.stdout.write('0 passed, 1 failed\n')
  process.exit(1)
}
