import type { ConfigurationVersion } from '../../src/domain/instance/configuration.ts'
import { EventKind } from '../../src/domain/instance/lifecycle-state.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { projectionOf } from '../../src/domain/instance/lifecycle-projection.ts'
import type { LifecycleRules } from '../../src/domain/instance/lifecycle-rules.ts'
import type { Lifecycle, LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import { noScaleToZero } from '../../src/domain/standby/scale-to-zero.ts'
import type { World } from './world.ts'

/** The configuration of the one instance, as its row has it. Only its version matters here. */
export class SimConfiguration {
  readonly #rules: LifecycleRules
  #now: ConfigurationVersion = { version: 0, renewBelow: 0, drainMs: 0 }

  constructor(rules: LifecycleRules) {
    this.#rules = rules
  }

  get now(): ConfigurationVersion {
    return this.#now
  }

  /** What a workflow that begins now gets. */
  get rules(): LifecycleRules {
    return this.#now.version === 0 ? this.#rules : { ...this.#rules, config: this.#now }
  }

  change(restart: boolean, drainMs: number): LifecycleEvent {
    const version = this.#now.version + 1
    const renewBelow = restart ? version : this.#now.renewBelow
    this.#now = { version, renewBelow, drainMs }
    const { restartPolicy, deleteOnStop, scaleToZero = noScaleToZero } = this.#rules
    return {
      kind: EventKind.Change,
      change: { ...this.#now, restartPolicy, deleteOnStop, scaleToZero },
    }
  }
}

/** Something that the user of the instance asks for. */
export function commandByHand({ dice, note }: CommandDice, configuration: SimConfiguration): LifecycleEvent {
  const drainTimeoutMs = dice.pick([0, 0, 100, 3_000, 10_000])
  const kind = dice.pick(['start', 'start', 'stop', 'stop', 'force', 'delete', 'change', 'restart'])
  const isLast = kind === 'delete' && dice.chance(0.3)
  const isDelete = isLast && dice.chance(0.5)
  note(`by hand: ${isLast && !isDelete ? 'retire' : kind}`)
  if (kind === 'change' || kind === 'restart') return configuration.change(kind === 'restart', drainTimeoutMs)
  if (isDelete) return { kind: EventKind.Delete }
  if (isLast) return { kind: EventKind.Stop, force: false, drainTimeoutMs, thenDelete: true }
  if (kind === 'start') return { kind: EventKind.Start }
  return { kind: EventKind.Stop, force: kind === 'force', drainTimeoutMs }
}

export function suspendByHand({ dice, note }: CommandDice): LifecycleEvent {
  note('by hand: suspend')
  return { kind: EventKind.Suspend, drainTimeoutMs: dice.pick([0, 100, 3_000, 10_000]) }
}

interface CommandDice {
  readonly dice: World['dice']
  readonly note: (text: string) => void
}

/** The state in the route feed; undefined if the feed has no such instance. */
export function routedState(life: Lifecycle): InstanceState | undefined {
  if (life.deletion !== undefined) return undefined
  return projectionOf(life).restarting === true ? InstanceState.Starting : life.state
}
