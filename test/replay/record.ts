import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { InstanceState } from '../../src/domain/instance-state.ts'
import { RestartPolicy } from '../../src/domain/restart-policy.ts'
import { hostEventSignal } from '../../workflows/instance-messages.ts'
import { startReport } from '../support/fake-host.ts'
import { startDevServer } from '../support/temporal.ts'
import { createWorld } from '../workflow/world.ts'
import type { World, WorldOptions } from '../workflow/world.ts'

/**
 * Records what the workflows do now, for a release: `node test/replay/record.ts <release>`, or with the names of
 * stories those alone. Each file is a life that every later version of the workflows has to be able to go on with. Files
 * of earlier releases are never recorded again.
 */
const directory = path.resolve(import.meta.dirname, 'histories')
const graceful = { force: false, drainTimeoutMs: 0 }

interface Story {
  readonly options: WorldOptions
  readonly lived: (world: World, env: TestWorkflowEnvironment) => Promise<void>
}

const stories: Readonly<Record<string, Story>> = {
  'start-stop-start-delete': {
    options: {},
    async lived(world) {
      await world.reachesState(InstanceState.Running)
      await world.control.stop(world.settings, { force: false, drainTimeoutMs: 5_000 }, 'stop')
      await world.reachesState(InstanceState.Stopped)
      await world.control.start(world.settings, 'start')
      await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
      await world.control.delete(world.settings)
      await world.gone
    },
  },
  'crash-restart-sequence': {
    options: {
      settings: { restartPolicy: RestartPolicy.OnFailure },
      endOf: (boot) => (boot < 3 ? { signal: 11 } : undefined),
    },
    async lived(world) {
      await world.reaches(({ boot, state }) => boot === 3 && state === InstanceState.Running)
      await world.reaches(({ restartAttempt }) => restartAttempt === 0)
    },
  },
  'stop-overtakes-start': {
    options: { startGate: (boot) => (boot === 1 ? new Promise(() => undefined) : undefined) },
    async lived(world) {
      await world.control.stop(world.settings, graceful, 'stop')
      await world.control.start(world.settings, 'start')
      await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
      await world.control.stop(world.settings, { force: true, drainTimeoutMs: 0 }, 'force')
      await world.reachesState(InstanceState.Stopped)
    },
  },
  'continued-as-new-while-running': {
    options: {},
    async lived(world) {
      await world.reachesState(InstanceState.Running)
      await world.control.refresh(world.settings.instanceUuid)
      await world.control.stop(world.settings, graceful, 'stop')
      await world.reachesState(InstanceState.Stopped)
    },
  },
  'goes-on-from-its-row': {
    options: {},
    async lived(world, env) {
      await world.reachesState(InstanceState.Running)
      await env.client.workflow.getHandle(world.id).terminate('recorded is what follows')
      const { revision, projection } = world.row
      const settings = { ...world.settings, ...(projection && { recorded: { revision, projection } }) }
      await world.control.start(settings, 'start')
      await world.reachesState(InstanceState.Starting)
      await world.reachesState(InstanceState.Running)
      await world.control.stop(settings, graceful, 'stop')
      await world.reachesState(InstanceState.Stopped)
    },
  },
  'listens-while-running': {
    options: {},
    async lived(world, env) {
      const { startedAtMs = 0 } = await world.reachesState(InstanceState.Running)
      const started = { ...startReport(1, startedAtMs), netTimeUs: 40_000 }
      await env.client.workflow.getHandle(world.id).signal(hostEventSignal, { kind: 'started', started })
      await world.reaches(({ netTimeUs }) => netTimeUs !== undefined)
      await world.control.stop(world.settings, graceful, 'stop')
      await world.reachesState(InstanceState.Stopped)
    },
  },
  'delete-on-stop': {
    options: { settings: { deleteOnStop: true } },
    async lived(world) {
      await world.reachesState(InstanceState.Running)
      await world.control.stop(world.settings, graceful, 'stop')
      await world.gone
    },
  },
}

async function record(env: TestWorkflowEnvironment, name: string, release: string): Promise<void> {
  const story = stories[name]
  if (story === undefined) throw new Error(`there is no story '${name}'`)
  const world = await createWorld(env, story.options)
  await world.control.ensureStarted(world.settings)
  await story.lived(world, env)
  const history = await env.client.workflow.getHandle(world.id).fetchHistory()
  // Process and host names of the recording machine mean nothing to a replay.
  const text = historyToJSON(history).replaceAll(/\d+@[\w.-]+/g, 'recorder')
  const file = path.join(directory, `${release}-${name}.json`)
  writeFileSync(file, `${JSON.stringify(JSON.parse(text), undefined, 1)}\n`)
  await world.end()
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
