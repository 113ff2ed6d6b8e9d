import type { AutoscaledService } from '../../src/db/autoscale/records.ts'
import { emptyMemory, observeService } from '../../src/domain/autoscale/decision.ts'
import type { AutoscaleVerdict } from '../../src/domain/autoscale/decision.ts'
import { sizeOf, Standing, standingOf } from '../../src/domain/autoscale/members.ts'
import type { AutoscaleMember, MemberLoad } from '../../src/domain/autoscale/members.ts'
import { viewedLoads } from '../../src/domain/autoscale/watch.ts'
import type { AutoscaleView, WatchInput, WatchResult } from '../../src/domain/autoscale/watch.ts'

/** The result of one look at a service. */
export interface ServiceLook {
  readonly result?: WatchResult
  /** Whether the load of an instance that counts is unknown. */
  readonly isLoadUnknown: boolean
}

/** The state of the watch over one service: the memory of its looks, and the last view. */
export class ServiceWatch {
  readonly input: WatchInput
  #target: number | undefined
  #memory = emptyMemory
  #hasLooked = false
  #view: () => AutoscaleView = () => ({})

  constructor(input: WatchInput) {
    this.input = input
    this.#target = input.target
  }

  /** Looks at the service. `service` is undefined if it has no configuration. */
  look(
    service: AutoscaledService | undefined,
    loadOf: (member: AutoscaleMember) => MemberLoad | undefined,
    nowMs: number,
  ): ServiceLook {
    if (service === undefined) return { result: { kind: 'closing' }, isLoadUnknown: false }
    const { configuration } = service
    const members = service.members.map((member) => observed(member, loadOf(member), configuration, nowMs))
    // If no size was decided yet, the size at the first look becomes the target.
    const target = (this.#target ??= sizeOf(members))
    const isLoadUnknown = members.some(
      ({ standing, load }) => standing === Standing.Counted && load === undefined,
    )
    if (!this.#hasLooked) {
      this.#hasLooked = true
      // At the first look, the hosts were perhaps asked for the first time, and then loads are unknown. They
      // would count as zero and lower the mean of the next looks, so the memory does not get this look.
      const rest = { kind: 'observing', looks: 0 } as const
      this.#view = () => ({ atMs: nowMs, size: sizeOf(members), target, rest })
      if (isLoadUnknown) return { isLoadUnknown }
    }
    const { blockedUntilMs, failedAtMs } = this.input
    const verdict = observeService(this.#memory, {
      nowMs,
      configuration,
      members,
      target,
      ...(blockedUntilMs !== undefined && { blockedUntilMs }),
      ...(failedAtMs !== undefined && { failedAtMs }),
    })
    this.#memory = verdict.memory
    this.#view = () => viewOf(verdict, { atMs: nowMs, target, members })
    return { isLoadUnknown, ...(verdict.outcome !== undefined && { result: verdict.outcome }) }
  }

  /** The last view. If there is trouble at present, it is added. */
  view(trouble?: string): AutoscaleView {
    return { ...this.#view(), ...(trouble !== undefined && { trouble }) }
  }
}

type Member = AutoscaleMember & { readonly standing: Standing; readonly load?: MemberLoad }

function observed(
  member: AutoscaleMember,
  load: MemberLoad | undefined,
  configuration: AutoscaledService['configuration'],
  nowMs: number,
): Member {
  const standing = standingOf(member, configuration, nowMs)
  return { ...member, standing, ...(load !== undefined && { load }) }
}

function viewOf(
  { size, metrics, rest }: AutoscaleVerdict,
  look: { readonly atMs: number; readonly target: number; readonly members: readonly Member[] },
): AutoscaleView {
  const loads = look.members.flatMap(({ name, load }) => (load === undefined ? [] : [[name, load] as const]))
  return {
    atMs: look.atMs,
    size,
    target: look.target,
    ...(metrics !== undefined && { metrics }),
    ...(rest !== undefined && { rest }),
    ...(loads.length > 0 && { loads: Object.fromEntries(loads.slice(0, viewedLoads)) }),
  }
}
