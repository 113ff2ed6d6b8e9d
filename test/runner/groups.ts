import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { namespaceOf } from '../support/namespace.ts'

/**
 * What a group needs of the processors, and so what it runs beside. `busy`: it uses one all the time.
 * `waiting`: it mostly waits for VMs, deadlines and restarts. It does not run beside busy groups, because
 * its time limits assume that a processor is free. `alone`: its own VMs keep all processors busy, so it runs
 * beside nothing.
 */
export type GroupKind = 'busy' | 'waiting' | 'alone'

/** A group of tests: the test files of one folder. */
export interface Group {
  readonly name: string
  readonly files: readonly string[]
  /** The time limit of one test or hook. */
  readonly testTimeoutMs: number
  /**
   * The time limit of the whole group. After it, the group is ended and counts as failed. Each test has a
   * limit of its own; this one is for hangs between tests. It is much longer than a group takes on a busy
   * machine.
   */
  readonly limitMs: number
  readonly kind: GroupKind
  /**
   * True for a group whose stacks and VMs use ports and addresses as if they had the host for themselves.
   * The group has a network namespace of its own.
   */
  readonly isHost: boolean
}

interface GroupPlan {
  readonly name: string
  readonly testTimeoutMs: number
  readonly limitMs: number
  readonly kind?: GroupKind
  readonly isHost?: boolean
}

/**
 * The groups in the order of their start. Quick groups come first, so that a small mistake shows soon. Of
 * the groups that mostly wait, the longest comes first, so that no long one begins near the end.
 */
const plans: readonly GroupPlan[] = [
  { name: 'unit', testTimeoutMs: 60_000, limitMs: 240_000 },
  { name: 'tidy', testTimeoutMs: 60_000, limitMs: 120_000 },
  { name: 'protocols', testTimeoutMs: 60_000, limitMs: 240_000 },
  { name: 'db', testTimeoutMs: 60_000, limitMs: 1_000_000 },
  { name: 'acme', testTimeoutMs: 60_000, limitMs: 300_000 },
  { name: 'images', testTimeoutMs: 60_000, limitMs: 300_000 },
  { name: 'replay', testTimeoutMs: 60_000, limitMs: 240_000 },
  { name: 'workflow', testTimeoutMs: 60_000, limitMs: 1_000_000 },
  { name: 'api', testTimeoutMs: 60_000, limitMs: 1_000_000 },
  { name: 'gateway', testTimeoutMs: 60_000, limitMs: 700_000 },
  { name: 'sim', testTimeoutMs: 300_000, limitMs: 600_000 },
  { name: 'e2e', testTimeoutMs: 240_000, limitMs: 3_000_000, kind: 'waiting', isHost: true },
  { name: 'host', testTimeoutMs: 60_000, limitMs: 3_000_000, kind: 'waiting', isHost: true },
  { name: 'fault', testTimeoutMs: 240_000, limitMs: 3_000_000, kind: 'waiting', isHost: true },
  { name: 'hosts', testTimeoutMs: 240_000, limitMs: 2_000_000, kind: 'waiting', isHost: true },
  { name: 'console', testTimeoutMs: 240_000, limitMs: 1_000_000, kind: 'waiting', isHost: true },
  { name: 'launch', testTimeoutMs: 120_000, limitMs: 500_000, kind: 'waiting' },
  { name: 'alone', testTimeoutMs: 240_000, limitMs: 1_000_000, kind: 'alone', isHost: true },
]

export const groupNames = plans.map((plan) => plan.name)

/** The network namespace of a group; undefined if the group needs none, or if the whole run has none. */
export function namespaceFor(group: Group): string | undefined {
  return group.isHost ? namespaceOf(group.name) : undefined
}

/**
 * Returns the groups with these names, and their test files. Without names, these are all groups that have
 * files. A named group without files is returned too, and then fails.
 */
export function findGroups(testDirectory: string, names: readonly string[]): readonly Group[] {
  const unknown = names.filter((name) => !groupNames.includes(name))
  if (unknown.length > 0) {
    throw new Error(`no such group: ${unknown.join(', ')}; there are ${groupNames.join(', ')}`)
  }
  return plans
    .filter((plan) => names.length === 0 || names.includes(plan.name))
    .map((plan) => ({
      kind: 'busy' as const,
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
