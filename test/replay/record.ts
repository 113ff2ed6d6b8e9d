import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { startDevServer } from '../support/temporal.ts'
import { autoscaleStories } from './autoscale-stories.ts'
import { certificateStories } from './certificate-stories.ts'
import { hostStories } from './host-stories.ts'
import { instanceStories } from './instance-stories.ts'
import { rolloutStories } from './rollout-stories.ts'
import { scheduleStories } from './schedule-stories.ts'
import type { Story } from './story.ts'
import { volumeStories } from './volume-stories.ts'

/**
 * Records what the workflows do now, for a release: `node test/replay/record.ts <release> [story ...]`.
 * Without names, all stories are recorded. Every later version of the workflows has to be able to go on with
 * each recorded life, so the files of an earlier release are never recorded again.
 */
const checkout = path.resolve(import.meta.dirname, '../..')
const directory = path.resolve(import.meta.dirname, 'histories')
const stories: Readonly<Record<string, Story>> = {
  ...instanceStories,
  ...volumeStories,
  ...certificateStories,
  ...autoscaleStories,
  ...scheduleStories,
  ...rolloutStories,
  ...hostStories,
}

async function record(env: TestWorkflowEnvironment, name: string, release: string): Promise<void> {
  const story = stories[name]
  if (story === undefined) throw new Error(`there is no story '${name}'`)
  const lived = await story(env)
  const history = await env.client.workflow.getHandle(lived.id).fetchHistory()
  // Names of processes, hosts and folders of the recording machine mean nothing to a replay.
  const text = historyToJSON(history)
    .replaceAll(/\d+@[\w.-]+/g, 'recorder')
    .replaceAll(`file://${checkout}/`, '')
    .replaceAll(`${checkout}/`, '')
  const file = path.join(directory, `${release}-${name}.json`)
  writeFileSync(file, `${JSON.stringify(JSON.parse(text), undefined, 1)}\n`)
  await lived.end()
}

const release = process.argv[2]
if (release === undefined || !/^\d+\.\d+\.\d+$/.test(release)) {
  process.stderr.write('node test/replay/record.ts <release, such as 0.1.0> [story ...]\n')
  process.exit(2)
}
mkdirSync(directory, { recursive: true })
const env = await startDevServer()
const chosen = process.argv.slice(3)
for (const name of chosen.length > 0 ? chosen : Object.keys(stories)) {
  await record(env, name, release)
  process.stdout.write(`${name}\n`)
}
await env.teardown()
process.exit(0)
