import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { namespaceOf } from '../support/namespace.ts'

/** The groups of tests, one folder each. */
export interface Group {
  readonly name: string
  readonly files: readonly string[]
  /** How long one test or hook may take. */
  readonly testTimeoutMs: number
  /**
   * How long the whole group may take before it is ended and counts as failed. Each test has a limit of its
   * own; this one is for what hangs between them, and is far from what a group takes on a busy machine.
   */
  readonly limitMs: number
  /**
   * Most of its time it waits, for VMs, deadlines and restarts, and needs the processors only now and then.
   * Groups that do so run beside each other, but not beside those that use a processor all the time: their
   * limits assume that one is free.
   */
  readonly waits: boolean
  /**
   * Its stacks and VMs take the ports and addresses of a whole host: it has a network namespace of its own.
   */
  readonly isHost: boolean
}

interface GroupPlan {
  readonly name: string
  readonly testTimeoutMs: number
  readonly limitMs: number
  readonly waits?: boolean
  readonly isHost?: boolean
}

/**
 * In the order in which they begin: quick ones first, so that a small mistake shows soon. Those that wait
 * begin with the longest, so that no long one is left for the end.
 */
const plans: readonly GroupPlan[] = [
  { name: 'unit', testTimeoutMs: 60_000, limitMs: 240_000 },
  { name: 'tidy', testTimeoutMs: 60_000, limitMs: 120_000 },
  { name: 'db', testTimeoutMs: 60_000, limitMs: 1_000_000 },
  { name: 'acme', testTimeoutMs: 60_000, limitMs: 300_000 },
  { name: 'images', testTimeoutMs: 60_000, limitMs: 300_000 },
  { name: 'replay', testTimeoutMs: 60_000, limitMs: 240_000 },
  { name: 'workflow', testTimeoutMs: 60_000, limitMs: 1_000_000 },
  { name: 'api', testTimeoutMs: 60_000, limitMs: 500_000 },
  { name: 'gateway', testTimeoutMs: 60_000, limitMs: 500_000 },
  { name: 'sim', testTimeoutMs: 300_000, limitMs: 600_000 },
  { name: 'fault', testTimeoutMs: 240_000, limitMs: 3_000_000, waits: true, isHost: true },
  { name: 'host', testTimeoutMs: 60_000, limitMs: 3_000_000, waits: true, isHost: true },
  { name: 'e2e', testTimeoutMs: 240_000, limitMs: 3_000_000, waits: true, isHost: true },
  { name: 'launch', testTimeoutMs: 120_000, limitMs: 500_000, waits: true },
]

export const groupNames = plans.map((plan) => plan.name)

/** The namespace in which a group that is a host of its own runs; undefined where the whole run has none. */
export function namespaceFor(group: Group): string | undefined {
  return group.isHost ? namespaceOf(group.name) : undefined
}

/**
 * The chosen groups with their test files; `names` empty means every group. A group without files fails its
 * run.
 */
export function findGroups(testDirectory: string, names: readonly string[]): readonly Group[] {
  const unknown = names.filter((name) => !groupNames.includes(name))
  if (unknown.length > 0) {
    throw new Error(`no such group: ${unknown.join(', ')}; there are ${groupNames.join(', ')}`)
  }
  return plans
    .filter((plan) => names.length === 0 || names.includes(plan.name))
    .map((plan) => ({
      waits: false,
      isHost: false,
      ...plan,
      files: testFiles(path.join(testDirectory, plan.name)),
    }))
    .filter((group) => group.files.length > 0 || names.includes(group.name))
}

function testFiles(directory: string): readonly string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted()
}
