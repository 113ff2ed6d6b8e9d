import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { Worker } from '@temporalio/worker'
import { DeterminismViolationError } from '@temporalio/workflow'
import type { ControlActivities } from '../../activities/control-activities.ts'
import { currentBundle } from '../support/temporal.ts'

const directory = path.resolve(import.meta.dirname, 'histories')
const files = readdirSync(directory).filter((file) => file.endsWith('.json'))

interface RecordedEvent {
  readonly eventType: string
  readonly activityTaskScheduledEventAttributes?: { activityType: { name: string } }
}

function read(file: string): { readonly events: RecordedEvent[] } {
  return JSON.parse(readFileSync(path.join(directory, file), 'utf8')) as { events: RecordedEvent[] }
}

/**
 * The local activities, which the worker has to know although their results are in the history. If it did
 * not know them, a replay would stop at the first local activity, without a failure. None of them is called.
 */
const known: Readonly<Record<keyof ControlActivities, () => Promise<never>>> = {
  placeAnew: notCalled,
  moveRow: notCalled,
  recordInstance: notCalled,
  hideInstance: notCalled,
  deleteInstanceRow: notCalled,
  recordVolume: notCalled,
  deleteVolumeRow: notCalled,
  recordCertificate: notCalled,
}

async function notCalled(): Promise<never> {
  throw new Error('a replay calls no activity')
}

async function replay(recorded: unknown): Promise<void> {
  const options = { workflowBundle: await currentBundle(), activities: known }
  await Worker.runReplayHistory(options, historyFromJSON(recorded), 'instance/replayed')
}

describe('the workflows of today go on with every life that was recorded', () => {
  it('there are recorded lives', () => {
    assert.ok(files.length >= 5)
  })

  for (const file of files) it(path.basename(file, '.json'), () => replay(read(file)))

  it('a life that ended in another way is refused', async () => {
    const recorded = read(files.find((file) => file.includes('start-stop'))!)
    const scheduled = recorded.events.findLast(
      (event) => event.activityTaskScheduledEventAttributes !== undefined,
    )
    scheduled!.activityTaskScheduledEventAttributes!.activityType.name = 'somethingElse'
    await assert.rejects(replay(recorded), DeterminismViolationError)
  })
})
