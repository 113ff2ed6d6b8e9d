import { timeOf } from '../instance/words.ts'
import { drainOf } from './drain.ts'
import { HostPhase, hostPhase, untilLostMs } from './loss.ts'
import type { HostFacts, HostTold } from './loss.ts'

/** What is awaited of a host, for the Web UI. */
export function hostWords(facts: HostFacts, told: HostTold): string {
  return byPhase[hostPhase(facts)](facts, told)
}

const byPhase = {
  [HostPhase.Heard]: () => 'it is heard',
  [HostPhase.Draining]: (facts, { drain }) => {
    const { moved, stuck } = drainOf(facts, drain)
    const parts = [
      `being emptied since ${timeOf(facts.drainingAtMs ?? 0)}: ${moved} moved away, ${facts.moving + facts.staying} to move`,
      ...stuck.map(({ name, why }) => `${name} could not move: ${why}`),
    ]
    return parts.join('; ')
  },
  [HostPhase.Silent]: (facts) => {
    const leftMs = untilLostMs(facts)
    const since = `not heard since ${timeOf(facts.heartbeatAtMs)}`
    return leftMs === undefined
      ? `${since}; its term is counted anew, because the hosts could not be read`
      : `${since}; it counts as lost in ${Math.max(0, Math.ceil(leftMs / 1_000))} s unless it is heard`
  },
  [HostPhase.Lost]: (facts, { told }) => {
    const all = Math.max(facts.moving, told?.loss === facts.loss ? told.moving : 0)
    const parts = [
      ...(all > 0 ? [`${begins(all)}, ${all - facts.moving} so far`] : []),
      ...(facts.staying > 0 ? [waits(facts.staying)] : []),
      ...(facts.isRemoved ? ['it is removed, and its row goes once nothing is on it'] : []),
    ]
    return `lost at ${timeOf(facts.lostAtMs ?? 0)}: ${parts.join('; ') || 'nothing is left on it'}`
  },
} satisfies Record<HostPhase, (facts: HostFacts, told: HostTold) => string>

function begins(count: number): string {
  return count === 1 ? '1 instance begins on another host' : `${count} instances begin on other hosts`
}

function waits(count: number): string {
  return count === 1
    ? '1 waits for it because its volume is there'
    : `${count} wait for it because their volumes are there`
}

/** What follows when a host is declared lost, for the one who removed it. */
export function removalWords({
  id,
  moving,
  staying,
  volumes,
  termMs,
}: {
  readonly id: string
  readonly moving: number
  readonly staying: number
  readonly volumes: number
  readonly termMs: number | undefined
}): string {
  const parts = [
    moving === 0 ? 'no instance begins elsewhere' : begins(moving),
    ...(staying > 0
      ? [
          `${staying === 1 ? '1 waits' : `${staying} wait`} until deleted, because ` +
            `${staying === 1 ? 'its volume is' : 'their volumes are'} lost with it`,
        ]
      : []),
    ...(volumes > 0 ? [`${volumes === 1 ? '1 volume is' : `${volumes} volumes are`} lost`] : []),
  ]
  const ends =
    termMs === undefined
      ? 'its VMs do not end by themselves'
      : `its VMs end within ${Math.ceil(termMs / 1_000)} s at the latest`
  return (
    `${id} is lost for good and locked out: ${parts.join('; ')}. ` +
    `If the machine still runs, switch it off: ${ends}.`
  )
}
