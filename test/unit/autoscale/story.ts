import { emptyMemory, observeService } from '../../../src/domain/autoscale/decision.ts'
import type { AutoscaleMemory, AutoscaleVerdict } from '../../../src/domain/autoscale/decision.ts'
import { observationIntervalMs } from '../../../src/domain/autoscale/looks.ts'
import { standingOf } from '../../../src/domain/autoscale/members.ts'
import type { AutoscaleMember, MemberLoad } from '../../../src/domain/autoscale/members.ts'
import type { AutoscaleConfiguration, AutoscaleStep } from '../../../src/domain/autoscale/policy.ts'

/** Loads in millicores by name; `silent` means that the host does not report it. */
export type Loads = Readonly<Record<string, number | 'silent'>>

export const longAgoMs = -1_000_000

export function cpuPolicy(...steps: readonly AutoscaleStep[]) {
  return { name: 'cpu', metric: 'cpu', adjustmentType: 'change', steps } as const
}

/** A CPU load below 300 millicores wants one instance fewer, from 600 on one more, from 800 on two more. */
export const usualPolicy = cpuPolicy(
  { upperBound: 300, adjustment: -1 },
  { lowerBound: 300, upperBound: 600, adjustment: 0 },
  { lowerBound: 600, upperBound: 800, adjustment: 1 },
  { lowerBound: 800, adjustment: 2 },
)

export function member(name: string, told: Partial<AutoscaleMember> = {}): AutoscaleMember {
  return {
    uuid: `uuid-${name}`,
    name,
    isMaster: name === 'master',
    nodeId: 'one',
    state: 'running',
    createdAtMs: longAgoMs,
    stateSinceMs: longAgoMs,
    startedAtMs: longAgoMs,
    startCount: 1,
    restartAttempt: 0,
    ...told,
  }
}

/** A service in virtual time, with one look per second. A test sets its members, target and block. */
export class AutoscaleStory {
  nowMs = 0
  target: number
  members: readonly AutoscaleMember[]
  configuration: AutoscaleConfiguration
  blockedUntilMs: number | undefined
  failedAtMs: number | undefined
  memory: AutoscaleMemory = emptyMemory

  constructor(members: readonly AutoscaleMember[], told: Partial<AutoscaleConfiguration> = {}) {
    this.members = members
    this.target = members.length
    this.configuration = {
      minSize: 1,
      maxSize: 6,
      warmupMs: 2_000,
      cooldownMs: 1_000,
      policies: [usualPolicy],
      ...told,
    }
  }

  /** Takes one look and returns its verdict. The clock then stands at the next look, a second later. */
  look(loads: Loads): AutoscaleVerdict {
    const { nowMs, target, configuration, blockedUntilMs, failedAtMs } = this
    const members = this.members.map((each) => {
      const cpu = loads[each.name]
      const load: MemberLoad | undefined =
        typeof cpu === 'number' ? { cpu, in_flight: 0, requests_per_second: 0 } : undefined
      const standing = standingOf(each, configuration, nowMs)
      return { ...each, standing, ...(load !== undefined && { load }) }
    })
    const verdict = observeService(this.memory, {
      nowMs,
      configuration,
      members,
      target,
      ...(blockedUntilMs !== undefined && { blockedUntilMs }),
      ...(failedAtMs !== undefined && { failedAtMs }),
    })
    // The memory has to be plain JSON. A copy by way of JSON lets tests fail if it is not.
    this.memory = JSON.parse(JSON.stringify(verdict.memory)) as AutoscaleMemory
    this.nowMs += observationIntervalMs
    return verdict
  }

  /** Looks until there is something to do, at most `times`. Returns the last verdict. */
  lookUpTo(times: number, loads: Loads): AutoscaleVerdict & { readonly looks: number } {
    let verdict = this.look(loads)
    let looks = 1
    for (; looks < times && verdict.outcome === undefined; looks++) verdict = this.look(loads)
    return { ...verdict, looks }
  }
}
