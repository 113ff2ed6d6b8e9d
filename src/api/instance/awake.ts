import type { AwakeInstance, AwakeInstances } from '../../domain/instance/awake.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { listPlacements } from '../../db/instance/instances.ts'
import { NodeUnavailable } from '../../control/host-client.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * The states in which the host may know more than the row. A host wakes an instance without asking anybody,
 * and the workflow writes the new state some hundred milliseconds later. Until then the row says `standby`,
 * although a client may have had an answer from the instance. So reads of a row in one of these states also
 * ask the host, and show what it says. Nothing is written here.
 */
const statesAheadOfRows: readonly InstanceState[] = [InstanceState.Standby, InstanceState.Starting]

type Deps = Pick<ApiDeps, 'nodes'>
type Log = Pick<Call, 'log'>
type Placed = Pick<InstanceRow, 'uuid' | 'nodeId' | 'state' | 'boot'>

/**
 * Returns the rows in their order, each in the state that its host reports. If a host does not answer, its
 * rows stay as they are.
 */
export async function asTheirHostsSay<Row extends InstanceRow | undefined>(
  deps: Deps,
  call: Log,
  rows: readonly Row[],
): Promise<readonly (Row | InstanceRow)[]> {
  const awake = await awakeInstances(
    deps,
    call,
    rows.flatMap((row) => row ?? []),
  )
  return rows.map((row) => {
    const seen = row === undefined ? undefined : awake.get(row.uuid)
    return row === undefined || seen === undefined ? row : asAwake(row, seen)
  })
}

/** Returns those of the instances that are awake according to their hosts. Makes one call per host. */
async function awakeInstances(
  deps: Deps,
  call: Log,
  placed: readonly Placed[],
): Promise<ReadonlyMap<string, AwakeInstance>> {
  const doubtful = placed.filter(({ state }) => statesAheadOfRows.includes(state))
  const answers = await Promise.all(
    [...Map.groupBy(doubtful, ({ nodeId }) => nodeId)].map(async ([nodeId, there]) => {
      const awake = await askHost(deps, call, { nodeId, uuids: there.map(({ uuid }) => uuid) })
      return there.flatMap(({ uuid, boot }) => {
        const seen = awake[uuid]
        // An answer about a boot before the row's is out of date: the workflow knows that this boot is
        // over.
        return seen === undefined || seen.boot < boot ? [] : [[uuid, seen] as const]
      })
    }),
  )
  return new Map(answers.flat())
}

/** Returns the states of the user's instances that hosts report and rows do not show yet. */
export async function statesByHosts(
  deps: Pick<ApiDeps, 'nodes' | 'database'>,
  call: Call,
): Promise<ReadonlyMap<string, InstanceState>> {
  const placed = await listPlacements(deps.database, call.identity, statesAheadOfRows)
  const awake = await awakeInstances(deps, call, placed)
  return new Map([...awake].map(([uuid, { state }]) => [uuid, state]))
}

async function askHost(
  deps: Deps,
  call: Log,
  { nodeId, uuids }: { readonly nodeId: string; readonly uuids: readonly string[] },
): Promise<AwakeInstances> {
  try {
    return await deps.nodes.readAwake(nodeId, uuids)
  } catch (error) {
    if (!(error instanceof NodeUnavailable)) throw error
    call.log.debug({ err: error, node: nodeId }, 'the host does not say which instances are awake')
    return {}
  }
}

/**
 * Returns the state that an instance had before a command. The workflow answered `told`, but it may not
 * know yet that the host has woken the instance, or that the instance is up.
 */
export function stateBefore(told: InstanceState, { state }: Pick<InstanceRow, 'state'>): InstanceState {
  if (told === InstanceState.Starting && state === InstanceState.Running) return state
  return told === InstanceState.Standby ? state : told
}

/** The row in the form in which the workflow will write it after the wake. */
function asAwake(row: InstanceRow, { boot, state, started }: AwakeInstance): InstanceRow {
  return {
    ...row,
    state,
    boot,
    startCount: row.startCount + (boot > row.boot ? 1 : 0),
    stoppedAt: null,
    stopReason: null,
    exitCode: null,
    stopCode: null,
    failure: null,
    failureKind: null,
    snapshotUuid: null,
    ...(started === undefined ? {} : startTimes(started)),
  }
}

function startTimes(started: StartReport) {
  return {
    startedAt: new Date(started.startedAtMs),
    bootTimeUs: started.bootTimeUs,
    vmmStartTimeUs: started.vmmStartTimeUs,
    vmmLoadTimeUs: started.vmmLoadTimeUs,
    vmmReadyTimeUs: started.vmmReadyTimeUs,
    netTimeUs: started.netTimeUs ?? null,
    startKind: started.kind,
    launchedVersion: started.configVersion ?? 0,
  }
}
