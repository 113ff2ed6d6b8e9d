import { effectsOf } from './host-lease-move.ts'
import type { Moves } from './host-lease-move.ts'
import { couldIdle, isDrained, isHeld, settle } from './host-lease-settlement.ts'
import { gatewayMoves } from './host-lease-gateways.ts'
import { vmMoves } from './host-lease-moves.ts'
import { LeasePhase } from './host-lease-phase.ts'
import { shareMoves, sharesDueMs } from './host-shares.ts'
import type { HostLeaseEffect, HostLeaseEvent, HostLeaseState } from './host-lease-state.ts'

/**
 * The lease that a host keeps of one instance: what keeps the instance awake, and what wakes it. Gateways,
 * guest, workflow and the work on the VM report facts. All decisions follow from these in `settle`, so a
 * fact that is reported twice, or late, does no harm.
 *
 * ```
 *            start            started            stand-by (epoch still current, or a user's)
 *   none ──────────► starting ─────────► running ────────────► standing-by
 *    ▲                  │                 │  ▲  ▲   stayed-awake     │ │
 *    │                  │ start-failed    │  │  └───────────────────┘ │ slept
 *    │                  ▼                 │  │ started                ▼
 *    │                 none         drain │  └──────── waking ◄──── asleep
 *    │                                    ▼              │  open,     ▲ ▲
 *    │  exited, stopped               draining           │  peers,    │ └── boot 0: the permit alone
 *    └──────────────── stopping ◄── stop ─┘              │  start     │
 *                          ▲                             └────────────┘
 *                          └── stop, from anywhere         start-failed: the permit stays, with a back-off
 *
 *   standing-by ── slept, of an order with `hold` ──► held ── start ──► waking
 *        asleep ── hold ────────────────────────────►  │ ──── release ──► asleep
 *                                                      └───── moved ──► none, and no gateway is told
 * ```
 *
 * An `open` is answered at once in none (`stopped`), running (`opened`), draining and stopping
 * (`draining`). It waits in starting, standing-by, held and waking. In asleep it begins the wake, or is
 * refused (`failed`) as long as the back-off lasts.
 *
 * Traffic does not refuse standby that a user asked for. In standing-by, the host then asks the gateways
 * for their leases, and the VM goes on until it has them all. A gateway that does not give its lease back
 * in time keeps the instance awake, so a request never meets a VM that sleeps.
 *
 * A peer's packet is reported once. So it is remembered in standing-by, in waking, and in asleep during a
 * back-off, and begins one wake as soon as that may be: with the sleep, or when the back-off is over. A boot
 * that comes up meanwhile serves the packet, and no other wake begins for it.
 *
 * An instance that moves between hosts is held at both: its permit is not used, whoever waits. Traffic and
 * packets of peers are remembered until it is released, or started.
 */
export interface HostLeaseStep {
  readonly state: HostLeaseState
  readonly effects: readonly HostLeaseEffect[]
}

const moves = { ...gatewayMoves, ...shareMoves, ...vmMoves } satisfies Moves<HostLeaseEvent['kind']>

export function decide(before: HostLeaseState, event: HostLeaseEvent, nowMs: number): HostLeaseStep {
  const context = effectsOf(nowMs)
  const moved = moves[event.kind](before, event as never, context)
  const state = settle(moved, context)
  return { state, effects: context.effects }
}

/** When `tick` is due if nothing else happens; undefined if never. */
export function nextDueMs(state: HostLeaseState): number | undefined {
  const due = state.leases.flatMap(({ keptUntilMs }) => keptUntilMs ?? [])
  due.push(...sharesDueMs(state))
  const { phase, peersWait, wakeFailure } = state
  if (phase === LeasePhase.Asleep && peersWait === true && wakeFailure !== undefined)
    due.push(wakeFailure.retryAtMs)
  if (isDrained(state)) due.push(state.toldFromMs)
  if (state.restUntilMs !== undefined) due.push(isHeld(state) ? state.restUntilMs : state.unsureUntilMs)
  if (state.idle !== undefined) due.push(state.idle.tellAtMs)
  else if (couldIdle(state)) due.push(Math.max(state.quietFromMs, state.unsureUntilMs))
  return due.length === 0 ? undefined : Math.min(...due)
}
