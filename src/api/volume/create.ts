import type { FailedEntry } from '../../contract/envelope.ts'
import { RequestError, requestError } from '../../contract/errors.ts'
import type { OperationBody, OperationEntry } from '../../contract/operation.ts'
import type { createVolumes } from '../../contract/volume/operations.ts'
import { createVolume } from '../../db/volume/create.ts'
import { readLimits } from '../../db/account/quotas.ts'
import type { VolumeRow } from '../../db/volume/row.ts'
import { findVolumes } from '../../db/volume/volumes.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { VolumeState } from '../../domain/volume/state.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { sizeProblems } from './choice.ts'
import { startVolumeWorkflows } from './workflows.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

type Body = OperationBody<typeof createVolumes>

/**
 * Creates the volumes of an array one after the other, so that the first ones get what is left of the
 * quotas.
 */
export function volumesCreate(deps: ApiDeps): Handler<typeof createVolumes> {
  return async ({ objects }, call) => {
    const limits = await readLimits(deps.database, call.identity.userUuid)
    if (limits === undefined) throw requestError('unauthenticated')
    const bodies = objects.map(({ parameters }) => parameters)
    const problems = bodies.flatMap((body) => sizeProblems(body.size_mb, { limits }))
    if (problems.length > 0) throw new RequestError(problems)
    const created: (VolumeRow | FailedEntry)[] = []
    for (const body of bodies) created.push(await createOne(deps, call, body))
    const rows = created.filter(isRow)
    await waitUntilMade(deps, call, await startVolumeWorkflows(deps, call, rows))
    return { entries: created.map((one) => (isRow(one) ? presentCreated(one) : one)) }
  }
}

function isRow(one: VolumeRow | FailedEntry): one is VolumeRow {
  return !('message' in one)
}

function presentCreated({ uuid, name }: VolumeRow): OperationEntry<typeof createVolumes> {
  return { status: 'success', uuid, name }
}

async function createOne(deps: ApiDeps, call: Call, body: Body): Promise<VolumeRow | FailedEntry> {
  const name = body.name === undefined ? undefined : parseObjectName(body.name)
  const wanted = { userUuid: call.identity.userUuid, sizeMb: body.size_mb, asker: call.asker }
  const outcome = await createVolume(deps, { ...wanted, ...(name === undefined ? {} : { name }) })
  return outcome.ok ? outcome.volume : unmadeEntry(writeRefusalProblem(outcome.refusal), name)
}

/**
 * Waits for a while until the volumes are made. If one is not made by then, or could not be made, its state
 * says so.
 */
async function waitUntilMade(deps: ApiDeps, call: Call, uuids: readonly string[]): Promise<void> {
  if (uuids.length === 0) return
  const identifiers = uuids.map((uuid) => ({ uuid }))
  const read = () => findVolumes(deps.database, call.identity.userUuid, identifiers)
  const isSatisfied = (rows: readonly (VolumeRow | undefined)[]) => !rows.some(isBeingMade)
  const options = { timeoutMs: deps.settings.makingVolumesMs, signal: call.signal }
  await deps.watch.waitForRead(uuids, { read, isSatisfied }, options)
}

function isBeingMade(row: VolumeRow | undefined): boolean {
  return row?.state === VolumeState.Uninitialized || row?.state === VolumeState.Initializing
}
