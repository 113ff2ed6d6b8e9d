import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { HostFailure } from '../../src/domain/instance/host-work.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'
import { hostEventSignal } from '../../workflows/instance/messages.ts'
import { startReport } from '../support/fake-host.ts'
import { startDevServer } from '../support/temporal.ts'
import { until } from '../support/until.ts'
import { createWorld } from '../workflow/instance/world.ts'
import type { World, WorldOptions } from '../workflow/instance/world.ts'
import { createAutoscaleWorld } from '../workflow/autoscale/world.ts'
import { createCertificateWorld } from '../workflow/certificate/world.ts'
import { createVolumeWorld } from '../workflow/volume/world.ts'
import { autoscaleStories } from './autoscale-stories.ts'
import { certificateStories } from './certificate-stories.ts'
import { volumeStories } from './volume-stories.ts'

/**
 * Records what the workflows do now, for a release: `node test/replay/record.ts <release>`, or with the names
 * of stories those alone. Each file is a life that every later version of the workflows has to be able to go
 * on with. Files of earlier releases are never recorded again, nor those named `-before-…`: the workflows do
 * that no more.
 */
const checkout = path.resolve(import.meta.dirname, '../..')
const directory = path.resolve(import.meta.dirname, 'histories')
const scaleToZero = { policy: 'on', cooldownMs: 300, stateful: false } as const
const soon = { limitMs: 10_000 }
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
  'standby-and-wake': {
    options: { settings: { scaleToZero } },
    async lived(world) {
      await world.reachesState(InstanceState.Running)
      await world.tellsIdle(1)
      await world.reachesState(InstanceState.Standby)
      await world.wakes()
      await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
      await world.control.stop(world.settings, graceful, 'stop')
      await world.reachesState(InstanceState.Stopped)
    },
  },
  'stateful-standby': {
    options: { settings: { scaleToZero: { ...scaleToZero, stateful: true } } },
    async lived(world) {
      await world.reachesState(InstanceState.Running)
      await world.tells({ kind: 'disabled', boot: 1, disabled: true })
      await world.tellsIdle(1)
      await world.tells({ kind: 'disabled', boot: 1, disabled: false })
      await world.reaches(({ snapshotUuid }) => snapshotUuid !== undefined)
      await world.control.start(world.settings, 'start')
      await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
      await world.tellsIdle(2)
      await world.reachesState(InstanceState.Standby)
      await world.control.stop(world.settings, graceful, 'stop')
      await world.reachesState(InstanceState.Stopped)
    },
  },
  'standby-from-the-start': {
    options: {
      settings: { scaleToZero, autostart: false },
      standByRefusal: (boot) => (boot === 1 ? 'busy' : undefined),
    },
    async lived(world) {
      await until('the permit is there', () => world.host.permit === 1, soon)
      await world.wakes()
      await world.reachesState(InstanceState.Running)
      await world.tellsIdle(1)
      await until('the order is refused', () => world.host.calls.length === 2, soon)
      await world.control.delete(world.settings)
      await world.gone
    },
  },
  'wake-failed': {
    options: { settings: { scaleToZero } },
    async lived(world, env) {
      await world.reachesState(InstanceState.Running)
      await world.tellsIdle(1)
      await world.reachesState(InstanceState.Standby)
      const failure = HostFailure.HostFull
      await world.tells(
        { kind: 'waking', boot: 2, atMs: await env.currentTimeMs() },
        { kind: 'wake-failed', boot: 2, failure, message: 'no memory left' },
      )
      await world.reaches(({ failure: shown }) => shown !== undefined)
      await world.control.start(world.settings, 'start')
      await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    },
  },
  'drained-stop': {
    options: { drainGate: () => new Promise(() => undefined) },
    async lived(world) {
      await world.reachesState(InstanceState.Running)
      await world.control.stop(world.settings, { force: false, drainTimeoutMs: 60_000 }, 'drain')
      await until('it drains', () => world.host.calls.some(({ call }) => call === 'drain'), soon)
      await world.control.start(world.settings, 'taken back')
      await world.reaches(({ boot, state }) => boot === 1 && state === InstanceState.Running)
      await world.control.stop(world.settings, { force: false, drainTimeoutMs: 1_000 }, 'drain again')
      await world.reachesState(InstanceState.Stopped)
    },
  },
  'stop-between-two-tries': {
    options: { failureOf: () => HostFailure.HostFull },
    async lived(world) {
      await world.reaches(({ failure }) => failure !== undefined)
      await world.control.stop(world.settings, graceful, 'stop')
      await world.reachesState(InstanceState.Stopped)
    },
  },
  'start-given-up': {
    options: { failureOf: () => HostFailure.HostFull },
    async lived(world) {
      await world.reachesState(InstanceState.Stopped)
      await world.control.start(world.settings, 'start')
      await world.reaches(({ boot, state }) => boot === 6 && state === InstanceState.Stopped)
    },
  },
  'retired-while-it-drains': {
    options: { drainGate: () => new Promise(() => undefined) },
    async lived(world) {
      await world.reachesState(InstanceState.Running)
      await world.control.retire(world.settings, 60_000, 'retire')
      await until('it drains', () => world.host.calls.some(({ call }) => call === 'drain'), soon)
      await world.control.start(world.settings, 'refused').catch(() => undefined)
      await world.control.retire(world.settings, 500, 'retire again')
      await world.gone
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

/** A life that came to the end of its story; its workflow may still run. */
interface Lived {
  /** Of its workflow. */
  readonly id: string
  end(): Promise<void>
}

async function live(env: TestWorkflowEnvironment, name: string): Promise<Lived> {
  const story = stories[name]
  const ofVolume = volumeStories[name]
  const ofCertificate = certificateStories[name]
  if (story !== undefined) {
    const world = await createWorld(env, story.options)
    await world.control.ensureStarted(world.settings)
    await story.lived(world, env)
    return world
  }
  if (ofCertificate !== undefined) {
    const world = await createCertificateWorld(env, ofCertificate.options)
    await world.control.ensureStarted(world.settings)
    await ofCertificate.lived(world, env)
    return world
  }
  const ofAutoscale = autoscaleStories[name]
  if (ofAutoscale !== undefined) {
    const world = await createAutoscaleWorld(env, ofAutoscale.options)
    await (
      ofAutoscale.options.settings === undefined ? world.control.configured : world.control.ensureStarted
    )(world.settings)
    await ofAutoscale.lived(world)
    return world
  }
  if (ofVolume === undefined) throw new Error(`there is no story '${name}'`)
  const world = await createVolumeWorld(env, ofVolume.options)
  const { control, settings } = world
  await (name === 'volume-deleted-before-it-began'
    ? control.delete(settings)
    : control.ensureStarted(settings))
  await ofVolume.lived(world, env)
  return world
}

async function record(env: TestWorkflowEnvironment, name: string, release: string): Promise<void> {
  const lived = await live(env, name)
  const history = await env.client.workflow.getHandle(lived.id).fetchHistory()
  // Processes, hosts and folders of the recording machine mean nothing to a replay.
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
for (const name of chosen.length > 0
  ? chosen
  : Object.keys({ ...stories, ...volumeStories, ...certificateStories, ...autoscaleStories })) {
  await record(env, name, release)
  process.stdout.write(`${name}\n`)
}
await env.teardown()
process.exit(0)
