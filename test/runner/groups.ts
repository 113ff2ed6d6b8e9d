import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** The groups of tests, one folder each. */
export interface Group {
  readonly name: string
  readonly files: readonly string[]
  /** How long one test or hook may take. */
  readonly testTimeoutMs: number
  /** How long the whole group may take before it is ended and counts as failed. */
  readonly limitMs: number
  /** May run beside another group. Groups that run VMs or whole stacks may not: their time limits assume the machine. */
  readonly shares: boolean
}

interface GroupPlan {
  readonly name: string
  readonly testTimeoutMs: number
  readonly limitMs: number
  readonly shares?: boolean
}

/** In the order in which they run: quick ones first, so that a small mistake shows soon. */
const plans: readonly GroupPlan[] = [
  { name: 'unit', testTimeoutMs: 60_000, limitMs: 240_000, shares: true },
  { name: 'tidy', testTimeoutMs: 60_000, limitMs: 120_000, shares: true },
  { name: 'db', testTimeoutMs: 60_000, limitMs: 500_000, shares: true },
  { name: 'acme', testTimeoutMs: 60_000, limitMs: 300_000, shares: true },
  { name: 'images', testTimeoutMs: 60_000, limitMs: 300_000, shares: true },
  { name: 'replay', testTimeoutMs: 60_000, limitMs: 240_000, shares: true },
  { name: 'workflow', testTimeoutMs: 60_000, limitMs: 1_000_000, shares: true },
  { name: 'api', testTimeoutMs: 60_000, limitMs: 500_000, shares: true },
  { name: 'gateway', testTimeoutMs: 60_000, limitMs: 500_000, shares: true },
  { name: 'sim', testTimeoutMs: 300_000, limitMs: 600_000, shares: true },
  { name: 'host', testTimeoutMs: 60_000, limitMs: 1_500_000 },
  { name: 'launch', testTimeoutMs: 120_000, limitMs: 500_000 },
  { name: 'e2e', testTimeoutMs: 240_000, limitMs: 2_000_000 },
  { name: 'fault', testTimeoutMs: 240_000, limitMs: 2_000_000 },
]

export const groupNames = plans.map((plan) => plan.name)

/** The chosen groups with their test files; `names` empty means every group. A group without files fails its run. */
export function findGroups(testDirectory: string, names: readonly string[]): readonly Group[] {
  const unknown = names.filter((name) => !groupNames.includes(name))
  if (unknown.length > 0) {
    throw new Error(`no such group: ${unknown.join(', ')}; there are ${groupNames.join(', ')}`)
  }
  return plans
    .filter((plan) => names.length === 0 || names.includes(plan.name))
    .map((plan) => ({ shares: false, ...plan, files: testFiles(path.join(testDirectory, plan.name)) }))
    .filter((group) => group.files.length > 0 || names.includes(group.name))
}

function testFiles(directory: string): readonly string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted()
}
