import { log } from '@temporalio/activity'
import { endDrain } from '../../src/db/host/drain.ts'
import {
  declareLost,
  forgetRemoved,
  instancesToTell,
  isStillLost,
  leavingOn,
  readHostOnLoss,
} from '../../src/db/host/loss.ts'
import type { HostOnLoss } from '../../src/db/host/loss.ts'
import { workflowSettings } from '../../src/db/instance/settings.ts'
import { drainedAfter } from '../../src/domain/host/drain.ts'
import { HostPhase, decideHost, hostPhase, toldAfter } from '../../src/domain/host/loss.ts'
import type { HostFacts, HostStep, HostTold, LossTold, WatchedTerm } from '../../src/domain/host/loss.ts'
import { hostWords } from '../../src/domain/host/loss-words.ts'
import { runStep } from '../control-step.ts'
import { drainSome } from './drain.ts'
import type { HostLook, HostLossActivities, HostNext } from './activities.ts'
import type { HostLossDeps } from './host-deps.ts'

/** More moves in one call than there are without a pause. */
const mostMoves = 5
/** At most 20 instances are told per second, so that a loss does not flatten the other hosts. */
const tellApartMs = 50
/**
 * How many are told in one call, and how many are told that nothing of them is left. Each may take some
 * seconds while Temporal is slow, and a call that takes too long would begin with the same ones again.
 */
const page = 30
/** After so many failures in a row it is not the instances that have trouble. */
const mostFailures = 3

export function createHostLossActivities(deps: HostLossDeps): HostLossActivities {
  return {
    continueHost: (asked) => runStep('look at a host', (signal) => look(deps, asked, signal)),
  }
}

async function look(deps: HostLossDeps, asked: HostLook, signal: AbortSignal): Promise<HostNext> {
  const { hostId, atMs } = asked
  const done: string[] = []
  let { told, drain } = asked
  const known = (): HostTold => ({ ...(told && { told }), ...(drain && { drain }) })
  for (let count = 0; count < mostMoves; count++) {
    const row = await readHostOnLoss(deps.database, hostId)
    if (row === undefined) return { phase: HostPhase.Heard, now: 'there is no such host any more', done }
    const facts = factsOf(row, deps.watch.of(hostId))
    const move = decideHost(facts, known(), atMs)
    const shown = () => ({
      phase: hostPhase(facts),
      now: hostWords(facts, known()),
      done,
      ...known(),
    })
    if (move.kind === 'over') return shown()
    if (move.kind === 'wait') {
      if ('cleans' in move) await clean(deps, hostId, signal)
      return { ...shown(), waitMs: move.ms }
    }
    if (move.kind === 'tell') {
      told = await tell(deps, { row, facts, told, atMs }, move, signal)
      return { ...shown(), waitMs: 0 }
    }
    if (move.kind === 'drain') {
      const page = await drainSome(deps, hostId, { after: move.after, signal })
      drain = drainedAfter(facts, drain, { ...page, nowMs: atMs })
      return { ...shown(), waitMs: 0 }
    }
    done.push(...(await carryOut(deps, row, move)))
  }
  return { phase: HostPhase.Silent, now: 'it is looked at again', done, waitMs: 0, ...known() }
}

/** A heartbeat that the watch has not seen yet begins a new count. */
function factsOf(row: HostOnLoss, watched: WatchedTerm | undefined): HostFacts {
  const { id, heartbeatAt, termMs, loss, lostAt, removedAt, drainingAt, ...counts } = row
  const heartbeatAtMs = heartbeatAt.getTime()
  const isSeen = watched?.heartbeatAtMs === heartbeatAtMs
  return {
    ...counts,
    id,
    heartbeatAtMs,
    termMs: termMs ?? undefined,
    loss,
    lostAtMs: lostAt?.getTime(),
    isRemoved: removedAt !== null,
    drainingAtMs: drainingAt?.getTime(),
    unheardMs: watched && (isSeen ? watched.unheardMs : 0),
    wasHeard: watched !== undefined && (!isSeen || watched.wasHeard),
  }
}

async function carryOut(
  { database }: HostLossDeps,
  row: HostOnLoss,
  { kind }: Extract<HostStep, { readonly kind: 'declare' | 'forget' | 'end-drain' }>,
): Promise<readonly string[]> {
  const { id, moving, staying } = row
  if (kind === 'forget') {
    if (!(await forgetRemoved(database, id))) return []
    log.warn('a host that was removed as lost is forgotten', { host: id })
    return ['it is forgotten: nothing was on it any more']
  }
  if (kind === 'end-drain') {
    if (!(await endDrain(database, id))) return []
    log.info('a host is empty: its drain is over', { host: id })
    return ['it is empty: the drain is over']
  }
  if (!(await declareLost(database, id, row))) return []
  log.warn('a host is lost: its instances begin on other hosts', { host: id, moving, staying })
  return [`it counts as lost: ${moving} without a volume, ${staying} with one were on it`]
}

interface Round {
  readonly row: HostOnLoss
  readonly facts: HostFacts
  readonly told: LossTold | undefined
  readonly atMs: number
}

/** Tells one page of instances. One that can not be told is passed over until the next round. */
async function tell(
  { database, instances, pause }: HostLossDeps,
  { row: host, facts, told, atMs }: Round,
  { round }: Extract<HostStep, { readonly kind: 'tell' }>,
  signal: AbortSignal,
): Promise<LossTold> {
  const rows = await instancesToTell(database, host.id, { ...round, limit: page })
  const loss = { nodeId: host.id, loss: host.loss, atMs: facts.lostAtMs ?? 0 }
  const tellOne = passingOver()
  for (const { row } of rows) {
    // What has begun again on a host that came back must not be told that it ended.
    if (!(await isStillLost(database, host))) break
    const stays = row.volumeUuid !== null
    await tellOne(row.uuid, () => instances.hostLost(workflowSettings(row), { ...loss, stays }))
    await pause(tellApartMs, signal)
  }
  const after = rows.length < page ? undefined : rows.at(-1)?.cursor
  return toldAfter(facts, told, { isOfAll: round.isOfAll, after, nowMs: atMs })
}

/** Says in place of a host that never comes back that nothing is left there of what is being deleted. */
async function clean(
  { database, instances, volumes, pause }: HostLossDeps,
  hostId: string,
  signal: AbortSignal,
) {
  const left = await leavingOn(database, hostId, page)
  const tellOne = passingOver()
  for (const [control, uuids] of [
    [instances, left.instances],
    [volumes, left.volumes],
  ] as const) {
    for (const uuid of uuids) {
      await tellOne(uuid, () => control.hostGone(uuid))
      await pause(tellApartMs, signal)
    }
  }
}

/** Carries out calls. One that fails is logged and left, unless several fail in a row. */
function passingOver(): (uuid: string, call: () => Promise<void>) => Promise<void> {
  let failures = 0
  return async (uuid, call) => {
    try {
      await call()
      failures = 0
    } catch (error) {
      failures += 1
      if (failures >= mostFailures) throw error
      log.warn('what is on a lost host was not told of it yet', { err: error, uuid })
    }
  }
}
