import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { Worker } from '@temporalio/worker'
import { DeterminismViolationError } from '@temporalio/workflow'
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

async function replay(recorded: unknown): Promise<void> {
  await Worker.runReplayHistory(
    { workflowBundle: await currentBundle() },
    historyFromJSON(recorded),
    'instance/replayed',
  )
}

describe('the workflows of today go on with every life that was recorded', () => {
  it('there are recorded lives', () => {
    assert.ok(files.length >= 5)
  })

  for (const file of files) it(path.basename(file, '.json'), () => replay(read(file)))

  it('a life that went another way is refused', async () => {
    const recorded = read(files.find((file) => file.includes('start-stop'))!)
    const scheduled = recorded.events.find(
      (event) => event.activityTaskScheduledEventAttributes !== undefined,
    )
    scheduled!.activityTaskScheduledEventAttributes!.activityType.name = 'somethingElse'
    await assert.rejects(replay(recorded), DeterminismViolationError)
  })
})
