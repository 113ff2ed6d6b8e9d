import { HostFailure, StandByRefusal } from '../../src/domain/instance/host-work.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { until } from '../support/until.ts'
import { createWorld } from '../workflow/instance/world.ts'
import type { World } from '../workflow/instance/world.ts'
import { storiesIn } from './story.ts'
import type { Story } from './story.ts'

const scaleToZero = { policy: 'on', cooldownMs: 300, stateful: false } as const
const stateful = { ...scaleToZero, stateful: true } as const
const soon = { limitMs: 10_000 }
const graceful = { force: false, drainTimeoutMs: 0 }

const volume = { uuid: '00000000-0000-4000-8000-00000000000f', sizeMb: 64 }

const story = storiesIn(createWorld)

async function move({ control, settings }: World, nodeId: string, id: string): Promise<void> {
  const from = { nodeId: settings.nodeId, address: '10.64.0.1' }
  await control.move(settings, { from, to: { nodeId, address: '10.64.16.1' }, volume }, id)
}

async function moveAway(world: World, id: string): Promise<void> {
  await move(world, world.otherHost.nodeId, id)
}

/** The lives of instances that are recorded. */
export const instanceStories: Readonly<Record<string, Story>> = {
  'start-stop-start-delete': story({}, async (world) => {
    await world.reachesState(InstanceState.Running)
    await world.control.stop(world.settings, { force: false, drainTimeoutMs: 5_000 }, 'stop')
    await world.reachesState(InstanceState.Stopped)
    await world.control.start(world.settings, 'start')
    await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    await world.control.delete(world.settings)
    await world.gone
  }),
  'crash-restart-sequence': story(
    {
      settings: { restartPolicy: RestartPolicy.OnFailure },
      endOf: (boot) => (boot < 3 ? { signal: 11 } : undefined),
    },
    async (world) => {
      await world.reaches(({ boot, state }) => boot === 3 && state === InstanceState.Running)
      await world.reaches(({ restartAttempt }) => restartAttempt === 0)
    },
  ),
  'stop-overtakes-start': story(
    { startGate: (boot) => (boot === 1 ? new Promise(() => undefined) : undefined) },
    async (world) => {
      await world.control.stop(world.settings, graceful, 'stop')
      await world.control.start(world.settings, 'start')
      await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
      await world.control.stop(world.settings, { force: true, drainTimeoutMs: 0 }, 'force')
      await world.reachesState(InstanceState.Stopped)
    },
  ),
  'continued-as-new-while-running': story({}, async (world) => {
    await world.reachesState(InstanceState.Running)
    await world.control.refresh(world.settings.instanceUuid)
    await world.control.stop(world.settings, graceful, 'stop')
    await world.reachesState(InstanceState.Stopped)
  }),
  'standby-and-wake': story({ settings: { scaleToZero } }, async (world) => {
    await world.reachesState(InstanceState.Running)
    await world.tellsIdle(1)
    await world.reachesState(InstanceState.Standby)
    await world.wakes()
    await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    await world.control.stop(world.settings, graceful, 'stop')
    await world.reachesState(InstanceState.Stopped)
  }),
  'suspended-twice': story(
    { standByRefusal: (boot) => (boot === 1 ? StandByRefusal.NoRoom : undefined) },
    async (world) => {
      const suspend = async (id: string) =>
        await world.control.suspend(world.settings, { drainTimeoutMs: 500 }, id)
      await world.reachesState(InstanceState.Running)
      await suspend('refused')
      await world.reaches(({ failure }) => failure !== undefined)
      await world.control.stop(world.settings, graceful, 'stop')
      await world.reachesState(InstanceState.Stopped)
      await world.control.start(world.settings, 'start')
      await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
      await suspend('first')
      await world.reaches(({ state, suspended }) => state === InstanceState.Standby && suspended === true)
      await suspend('asleep')
      await world.wakes()
      await world.reaches(({ boot, state }) => boot === 3 && state === InstanceState.Running)
      await suspend('second')
      await world.reaches(({ boot, state }) => boot === 3 && state === InstanceState.Standby)
      await world.control.start(world.settings, 'start again')
      await world.reaches(({ boot, state }) => boot === 4 && state === InstanceState.Running)
      await world.control.delete(world.settings)
      await world.gone
    },
  ),
  'changed-and-restarted': story({ settings: { scaleToZero: stateful } }, async (world) => {
    const changed = (version: number, renewBelow: number) => ({
      ...world.settings,
      scaleToZero: stateful,
      config: { version, renewBelow, drainMs: 0 },
    })
    await world.reachesState(InstanceState.Running)
    await world.control.change(changed(1, 0), 'change')
    await until('its host is told', () => world.host.changes.length === 1, soon)
    world.host.version = 2
    await world.control.change(changed(2, 2), 'restart')
    await world.reaches(({ boot, launchedVersion }) => boot === 2 && launchedVersion === 2)
    await world.tellsIdle(2)
    await world.reaches(({ snapshotUuid }) => snapshotUuid !== undefined)
    await world.control.change(changed(3, 3), 'drop the memory')
    await world.reaches(({ toldVersion, snapshotUuid }) => toldVersion === 3 && snapshotUuid === undefined)
    await world.wakes()
    await world.reachesState(InstanceState.Running)
  }),
  'start-given-up': story({ failureOf: () => HostFailure.HostFull }, async (world) => {
    await world.reachesState(InstanceState.Stopped)
    await world.control.start(world.settings, 'start')
    await world.reaches(({ boot, state }) => boot === 6 && state === InstanceState.Stopped)
  }),
  'retired-while-it-drains': story({ drainGate: () => new Promise(() => undefined) }, async (world) => {
    await world.reachesState(InstanceState.Running)
    await world.control.retire(world.settings, 60_000, 'retire')
    await until('it drains', () => world.host.calls.some(({ call }) => call === 'drain'), soon)
    await world.control.start(world.settings, 'refused').catch(() => undefined)
    await world.control.retire(world.settings, 500, 'retire again')
    await world.gone
  }),
  // These two were recorded when no volume was copied before its instance slept.
  'moved-with-its-volume': story({}, async (world) => {
    await world.reachesState(InstanceState.Running)
    await moveAway(world, 'move')
    await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
  }),
  'moving-with-its-volume': story(
    { other: { fetchGate: () => new Promise(() => undefined) } },
    async (world) => {
      await world.reachesState(InstanceState.Running)
      await moveAway(world, 'move')
      await until('the fetch', () => world.otherHost.calls.some(({ call }) => call === 'fetch'), soon)
    },
  ),
  'copied-and-moved': (env) => {
    const gates = [new Promise<void>(() => undefined), Promise.resolve()]
    return story({ other: { copyGate: () => gates.shift() } }, async (world) => {
      await world.reachesState(InstanceState.Running)
      await moveAway(world, 'taken back')
      await until('the copy', () => world.otherHost.calls.some(({ call }) => call === 'copy'), soon)
      await move(world, world.settings.nodeId, 'back')
      await until('the end of the offer', async () => (await world.life()).offer === undefined, soon)
      await moveAway(world, 'move')
      await world.reaches(({ boot, state }) => boot === 2 && state === InstanceState.Running)
    })(env)
  },
}
