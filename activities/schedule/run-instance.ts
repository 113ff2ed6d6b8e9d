import type { InstanceRow } from '../../src/db/instance/row.ts'
import { insertInstanceOfRun, runAsker } from '../../src/db/schedule/runs.ts'
import type { RunRow } from '../../src/db/schedule/runs.ts'
import { openScheduleEnv } from '../../src/db/schedule/row.ts'
import type { ScheduleRow } from '../../src/db/schedule/row.ts'
import { markVolumeWorkflowStarted } from '../../src/db/volume/records.ts'
import { volumeSettings } from '../../src/db/volume/settings.ts'
import { findVolumes } from '../../src/db/volume/volumes.ts'
import { randomSuffix } from '../../src/db/random-suffix.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'
import { nameSuffixLength, replicaName } from '../../src/domain/object-name.ts'
import { toPlainText } from '../../src/domain/plain-text.ts'
import type { RunAction } from '../../src/domain/schedule/action.ts'
import { beginLife } from '../instance-orders.ts'
import type { ScheduleRunDeps } from './run-deps.ts'

/** How long after its end the log of an instance is waited for, if its host does not answer. */
const logPatienceMs = 60_000

/** Makes the instance of a run. Returns why that is not possible, if it is not. */
export async function makeInstance(
  deps: ScheduleRunDeps,
  { schedule, run }: { readonly schedule: ScheduleRow; readonly run: RunRow },
  action: RunAction,
): Promise<string | undefined> {
  const { image, memoryMb, vcpus, args, volume } = action
  const suffix = (deps.randomSuffix ?? randomSuffix)(nameSuffixLength)
  const asker = runAsker(schedule)
  const made = await insertInstanceOfRun(deps, run, {
    userUuid: schedule.userUuid,
    name: replicaName(schedule.name, suffix),
    image,
    memoryMb,
    vcpus,
    env: openScheduleEnv(deps.secretBox, schedule),
    restartPolicy: RestartPolicy.Never,
    deleteOnStop: false,
    autostart: true,
    replicas: 0,
    asker,
    ...(args !== undefined && { args }),
    ...(volume !== undefined && { volume }),
  })
  if (!made.ok) return deps.refusalSentence(made.refusal)
  if (made.instance !== undefined) await beginLives(deps, made.instance, schedule)
  return undefined
}

/** Starts the workflows of a new instance and its volume. The sweep starts them if this is not reached. */
async function beginLives(deps: ScheduleRunDeps, row: InstanceRow, schedule: ScheduleRow): Promise<void> {
  if (row.volumeUuid !== null) {
    const [volume] = await findVolumes(deps.database, row.userUuid, [{ uuid: row.volumeUuid }])
    if (volume !== undefined && !volume.persistent) {
      await deps.volumes.ensureStarted(volumeSettings(volume))
      await markVolumeWorkflowStarted(deps.database, [volume.uuid])
    }
  }
  await beginLife(deps, row, runAsker(schedule))
}

/**
 * The last part of what an instance printed. Undefined if its host does not answer, although it may still
 * do so.
 */
export async function readLogTail(
  { logs, bounds, nowMs }: ScheduleRunDeps,
  instance: InstanceRow,
): Promise<string | undefined> {
  const { logBytes } = bounds
  try {
    const window = await logs.readLog(instance, { offset: -logBytes, limit: logBytes })
    return toPlainText(Buffer.from(window.outputBase64, 'base64').toString('utf8'))
  } catch {
    const stoppedAtMs = instance.stoppedAt?.getTime() ?? 0
    return nowMs() - stoppedAtMs > logPatienceMs ? '' : undefined
  }
}
