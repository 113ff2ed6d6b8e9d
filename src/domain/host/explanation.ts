import { labelsText } from './labels.ts'
import type { HostLabels } from './labels.ts'
import { lostAfterMs } from './term.ts'
import { footprintMb, minGuestMemoryMb } from './memory-room.ts'
import type { Explanation } from '../instance/explanation.ts'
import { InstanceState } from '../instance/state.ts'
import { isUnderWay, upgradeFailureText, upgradeUnderWayText } from './upgrade.ts'
import type { HostUpgrade } from './upgrade.ts'
import type { HostRole } from './role.ts'
import { tallyOf, totalOf } from '../instance/tally.ts'
import type { StateCounts } from '../instance/tally.ts'
import { timeOf } from '../instance/words.ts'
import { visibleText } from '../plain-text.ts'
import { roostVersion } from '../roost-version.ts'

export const HostState = {
  /** Its heartbeats come. */
  Live: 'live',
  /** It sent no heartbeat for so long that it gets no new instances. */
  Silent: 'silent',
  /** It was silent for longer than its term, or was removed as lost: its instances begin elsewhere. */
  Lost: 'lost',
  /** An administrator gave its id to the next host that joins under it. */
  Released: 'released',
} as const
export type HostState = (typeof HostState)[keyof typeof HostState]

export function hostState({
  live,
  lostAt,
  released,
}: {
  readonly live: boolean
  readonly lostAt: Date | null
  readonly released: boolean
}): HostState {
  if (lostAt !== null) return HostState.Lost
  if (released) return HostState.Released
  return live ? HostState.Live : HostState.Silent
}

/** What is recorded about a host. */
export interface ExplainedHost {
  readonly id: string
  readonly state: HostState
  readonly heartbeatAtMs: number
  /** The version of Roost that its agent told last. */
  readonly version: string
  /** Its upgrade that is under way, or the last one. */
  readonly upgrade?: HostUpgrade
  /** For how long its VMs go on without an answer of the API. Absent: they do not end by themselves. */
  readonly termMs?: number
  /** When it was declared lost. Absent: it is not. */
  readonly lostAtMs?: number
  /** Present if an administrator removed it as lost. */
  readonly isRemoved?: true
  /** How many of its instances have a volume, and how many volumes it has. */
  readonly withVolume?: number
  /** Its instances by their recorded state, without those that are being deleted. */
  readonly instances: StateCounts
  /** The memory that all its VMs may take together. */
  readonly memoryMb: number
  /** The memory of the instances that have a VM. */
  readonly usedMemoryMb: number
  /** The memory that it needs if all its instances that are not stopped run at once. */
  readonly promisedMemoryMb: number
  /** When an administrator cordoned it. Absent: it is not cordoned. */
  readonly cordonedAtMs?: number
  /** Since when it is to be emptied. Absent: it is not. */
  readonly drainingAtMs?: number
  readonly labels: HostLabels
  /** What its machine does besides running instances. */
  readonly roles: readonly HostRole[]
  /** The room for volumes, and the size of all volumes together. */
  readonly volumeMb: number
  readonly promisedMb: number
}

/** Says whether a host is heard, what it has and how much room is left, and what that means. */
export function explainHost(host: ExplainedHost): Explanation {
  const { now, next } = byState[host.state](host)
  const failure = host.upgrade && upgradeFailureText(host.upgrade, host.version)
  return {
    now: `${host.id}${labelled(host)} ${now}${rolesOf(host)}${otherVersion(host)}: ${tallyOf(host.instances)}; ${roomOf(host)}.`,
    next,
    ...(failure !== undefined && { failure }),
  }
}

type Words = Pick<Explanation, 'now' | 'next'>

const byState = {
  [HostState.Live]: (host) => ({ now: 'is live', next: `${upgrading(host)}${placing(host)}${waking(host)}` }),
  [HostState.Silent]: ({ id, heartbeatAtMs, cordonedAtMs, termMs, upgrade }) => ({
    now: `has been silent since ${timeOf(heartbeatAtMs)}${duringUpgrade(upgrade)}${cordoned(cordonedAtMs)}, and this is what was recorded`,
    next:
      'nothing new is placed there, and starts, stops and deletions on it wait until it is heard again; ' +
      `${countsAsLost(heartbeatAtMs, termMs)}if it never comes back, \`roost admin node release ${id}\` lets another machine take its place, and ` +
      `\`roost admin node remove ${id}\` forgets it`,
  }),
  [HostState.Lost]: (host) => ({
    now: `has been lost since ${timeOf(host.lostAtMs)} and was last heard at ${timeOf(host.heartbeatAtMs)}${cordoned(host.cordonedAtMs)}, and this is what was recorded`,
    next: afterLoss(host),
  }),
  [HostState.Released]: ({ id, instances, cordonedAtMs }) => ({
    now: `is released${cordoned(cordonedAtMs)}`,
    next: `the next host that joins under the id ${id} takes over its ${counted(totalOf(instances), 'instance')}`,
  }),
} satisfies Record<HostState, (host: ExplainedHost) => Words>

/** When a silent host counts as lost, if nobody hears it and all heartbeats could be heard. */
function countsAsLost(heartbeatAtMs: number, termMs: number | undefined): string {
  if (termMs === undefined) return ''
  return (
    `it counts as lost at about ${timeOf(heartbeatAtMs + lostAfterMs(termMs))} unless it is heard, and its instances without ` +
    'volumes begin on other hosts then; '
  )
}

function afterLoss({ id, withVolume = 0, isRemoved, instances }: ExplainedHost): string {
  const moving = totalOf(instances) - withVolume
  const parts = [
    'nothing new is placed there',
    ...(moving > 0
      ? [
          `${counted(moving, 'instance')} ${moving === 1 ? 'begins' : 'begin'} on other hosts as soon as they have room`,
        ]
      : []),
    ...(withVolume > 0
      ? [
          `${counted(withVolume, 'instance')} with ${withVolume === 1 ? 'a volume' : 'volumes'} ` +
            (isRemoved ? 'can only be deleted' : `${withVolume === 1 ? 'waits' : 'wait'} for it`),
        ]
      : []),
  ]
  const end = isRemoved
    ? 'it was removed and does not come back: it is forgotten once nothing is on it'
    : `once it is heard again, it clears up and is live; if it never comes back, \`roost host remove --lost ${id}\` gives it up`
  return `${parts.join(', ')}; ${end}`
}

function labelled({ labels }: ExplainedHost): string {
  const text = labelsText(labels)
  return text === '' ? '' : ` (${text})`
}

function rolesOf({ roles }: ExplainedHost): string {
  return roles.length === 0 ? '' : `, has the role ${roles.join(' and ')}`
}

/** Empty if it is the version of the API that explains the host. */
function otherVersion({ version }: ExplainedHost): string {
  return version === roostVersion
    ? ''
    : `, runs Roost ${visibleText(version)} while the API runs ${roostVersion}`
}

function roomOf({ usedMemoryMb, memoryMb, promisedMb, volumeMb }: ExplainedHost): string {
  return `${usedMemoryMb} of ${memoryMb} MiB of memory and ${promisedMb} of ${volumeMb} MiB for volumes are taken`
}

/** A host that is not heard keeps its cordon until somebody takes it back. */
function cordoned(atMs: number | undefined): string {
  return atMs === undefined ? '' : ` (cordoned at ${timeOf(atMs)}, and it stays so)`
}

function duringUpgrade(upgrade: HostUpgrade | undefined): string {
  return upgrade !== undefined && isUnderWay(upgrade) ? `, while ${upgradeUnderWayText(upgrade)}` : ''
}

function upgrading({ upgrade }: ExplainedHost): string {
  return upgrade !== undefined && isUnderWay(upgrade) ? `${upgradeUnderWayText(upgrade)}; ` : ''
}

/** What the cordon, or else the room that is left, means for further starts. */
function placing(host: ExplainedHost): string {
  const { id, memoryMb, usedMemoryMb, instances, cordonedAtMs } = host
  if (host.drainingAtMs !== undefined) return draining(host)
  if (cordonedAtMs !== undefined) {
    const count = totalOf(instances)
    const rest =
      count === 0 ? 'it has none' : `${counted(count, 'instance')} ${count === 1 ? 'goes' : 'go'} on`
    return (
      `no new instances are placed here, because an administrator cordoned it at ${timeOf(cordonedAtMs)}; ${rest}, and ` +
      `\`roost host uncordon ${id}\` permits new ones again`
    )
  }
  const leftMb = Math.max(0, memoryMb - usedMemoryMb)
  const leastMb = footprintMb(minGuestMemoryMb)
  return leftMb < leastMb
    ? `no further instance starts there before others stop or sleep: the smallest needs ${leastMb} MiB, and ${leftMb} MiB are left`
    : `further instances are placed and started there as long as they fit: ${leftMb} MiB of memory are left`
}

/** What a drain does, and how it is taken back. */
function draining({ id, instances, drainingAtMs }: ExplainedHost): string {
  const count = totalOf(instances)
  const left =
    count === 0
      ? 'nothing is left on it'
      : `${counted(count, 'instance')} ${count === 1 ? 'moves' : 'move'} to other hosts`
  return (
    `it is being emptied since ${timeOf(drainingAtMs)}: ${left}; no new instances are ` +
    `placed here, and \`roost host uncordon ${id}\` takes this back`
  )
}

/** What happens if all sleepers wake at once; empty if there is room for all of them. */
function waking({ instances, memoryMb, promisedMemoryMb }: ExplainedHost): string {
  const sleeping = instances[InstanceState.Standby] ?? 0
  const lackMb = promisedMemoryMb - memoryMb
  if (sleeping === 0 || lackMb <= 0) return ''
  return `; if all that sleep wake at once, ${lackMb} MiB are missing, and the last wakes are refused`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
