import { strict as assert } from 'node:assert'
import { ApplicationFailure } from '@temporalio/common'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startDevServer } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { instanceWorkflowId } from '../../../workflows/instance/messages.ts'
import { beginWorld } from './world.ts'
import type { World, WorldOptions } from './world.ts'

const soon = { limitMs: 20_000 }

describe('an instance that moves to another host', () => {
  let env: TestWorkflowEnvironment
  let world: World
  before(async () => {
    env = await startDevServer()
  })
  after(() => env.teardown())
  afterEach(() => world.end())

  const from = () => ({ nodeId: world.settings.nodeId, address: '10.64.0.1' })
  const to = () => ({ nodeId: world.otherHost.nodeId, address: '10.64.16.1' })
  const move = async (id = 'move', place = to()) =>
    await world.control.move(world.settings, { from: from(), to: place }, id)
  const calls = () => [world.host, world.otherHost].map((host) => host.calls.map(({ call }) => call))
  const isOver = async () => {
    await until('the end of the move', async () => (await world.life()).move === undefined, soon)
    return await world.life()
  }
  const sleeps = async () => {
    await world.control.suspend(world.settings, { drainTimeoutMs: 0 }, 'suspend')
    await world.reachesState(InstanceState.Standby)
  }

  it('runs on there with its memory, and its old host is asked for nothing more', async () => {
    world = await beginWorld(env)
    await move()
    const { boot } = await world.reaches((row) => row.boot === 2 && row.state === InstanceState.Running)
    assert.deepEqual([boot, [...world.otherHost.running], [...world.host.running]], [2, [2], []])
    assert.deepEqual(calls(), [
      ['start', 'stand-by', 'hold'],
      ['fetch', 'start'],
    ])
    assert.equal(world.row.record?.move, undefined)
    await world.control.stop(world.settings, { force: true, drainTimeoutMs: 0 }, 'stop')
    await world.reachesState(InstanceState.Stopped)
    assert.equal(world.otherHost.calls.at(-1)?.call, 'stop')
    assert.deepEqual(await move('again'), {
      previousState: 'stopped',
      state: 'stopped',
      revision: (await world.life()).revision,
    })
  })

  const volume = { uuid: '00000000-0000-4000-8000-00000000000f', sizeMb: 64 }
  const moveWithVolume = async () =>
    await world.control.move(world.settings, { from: from(), to: to(), volume }, 'move')

  it('moves with its volume, whose workflow is told of the new host', async () => {
    world = await beginWorld(env)
    await sleeps()
    await moveWithVolume()
    const life = await isOver()
    assert.deepEqual([life.nodeId, life.move], [to().nodeId, undefined])
    assert.deepEqual([world.host.volumes, world.otherHost.volumes], [[volume], [volume]])
    assert.equal(world.movedVolume, volume.uuid)
    const told = async () => {
      const { events } = await env.client.workflow
        .getHandle(instanceWorkflowId(world.settings.instanceUuid))
        .fetchHistory()
      return events
        ?.map((event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes)
        .find((attributes) => attributes?.workflowExecution?.workflowId === `volume/${volume.uuid}`)
    }
    const signal = await until('the signal', told, soon)
    assert.equal(signal?.signalName, 'moved')
  })

  const offered = async () => await until('the offer', () => world.host.isOffered, soon)
  const says = async (text: RegExp) =>
    await until(String(text), async () => text.test(await world.details()), soon)

  it('has its volume copied while it runs, and sleeps only then', async () => {
    const gate = Promise.withResolvers<void>()
    world = await beginWorld(env, { other: { copyGate: () => gate.promise } })
    await moveWithVolume()
    await says(/- moves to host \S+-other: its volume is being copied to its new host while it runs, since /)
    assert.deepEqual([world.row.record?.state, world.row.record?.move?.step], ['running', 'copy'])
    gate.resolve()
    await world.reaches((row) => row.boot === 2 && row.state === InstanceState.Running)
    assert.deepEqual(calls(), [
      ['start', 'offer', 'stand-by', 'hold'],
      ['copy', 'fetch', 'start'],
    ])
    assert.deepEqual(world.otherHost.volumes, [volume])
  })

  const without = {
    'the copy fails': {
      options: {
        other: { copyGate: () => Promise.reject(ApplicationFailure.create({ message: 'no room' })) },
      },
      why: /^no room$/,
      copies: ['copy'],
    },
    'its old host has a version that copies nothing': {
      options: { copiesNothing: true },
      why: /^one of its hosts has a version of Roost that copies no volume/,
      copies: [],
    },
    'its new host has a version that copies nothing': {
      options: { other: { copiesNothing: true } },
      why: /^one of its hosts has a version of Roost that copies no volume/,
      copies: ['copy'],
    },
  } satisfies Record<string, { options: WorldOptions; why: RegExp; copies: readonly string[] }>
  for (const [what, { options, why, copies }] of Object.entries(without)) {
    it(`moves with a longer pause if ${what}`, async () => {
      world = await beginWorld(env, options)
      await moveWithVolume()
      const told = await world.reaches(({ move }) => move?.notCopied !== undefined)
      assert.match(told.move?.notCopied ?? '', why)
      await world.reaches((row) => row.boot === 2 && row.state === InstanceState.Running)
      assert.deepEqual(calls(), [
        ['start', 'offer', 'stand-by', 'hold'],
        [...copies, 'fetch', 'start'],
      ])
    })
  }

  it('does not wait for the copy at a new host that takes no work, and stays', async () => {
    world = await beginWorld(env, { otherAway: true })
    await moveWithVolume()
    const told = await world.reaches(({ move }) => move?.notCopied !== undefined)
    assert.equal(told.move?.notCopied, `host ${to().nodeId} takes no work`)
    await world.reaches((row) => row.boot === 2 && row.state === InstanceState.Running)
    assert.deepEqual([...world.host.running], [2])
  })

  it('runs on if its move is taken back during the copy: both hosts hear that the copy is over', async () => {
    world = await beginWorld(env, { other: { copyGate: () => new Promise(() => undefined) } })
    await moveWithVolume()
    await offered()
    await until('the copy', () => world.otherHost.calls.length > 0, soon)
    await move('back', from())
    await until('the end of the offer', () => !world.host.isOffered, soon)
    await until('the end of the copy', () => world.otherHost.copiesCalledOff.length > 0, soon)
    await until('its answer', async () => (await world.life()).offer === undefined, soon)
    assert.deepEqual([(await world.life()).move, [...world.host.running]], [undefined, [1]])
    assert.deepEqual(calls(), [['start', 'offer', 'release'], ['copy']])
  })

  it('does not wait for the copy if it falls asleep meanwhile', async () => {
    world = await beginWorld(env, {
      settings: { scaleToZero: { policy: 'on', cooldownMs: 300, stateful: true } },
      other: { copyGate: () => new Promise(() => undefined) },
    })
    await moveWithVolume()
    await until('the copy', () => world.otherHost.calls.length > 0, soon)
    await world.tellsIdle(1)
    const life = await isOver()
    assert.deepEqual([life.state, life.nodeId], ['standby', to().nodeId])
    assert.deepEqual(calls(), [
      ['start', 'offer', 'stand-by', 'hold'],
      ['copy', 'fetch', 'take'],
    ])
  })

  it('stays if the new host is of a version that leaves volumes behind', async () => {
    world = await beginWorld(env, { other: { leavesVolumes: true } })
    await sleeps()
    await moveWithVolume()
    const life = await isOver()
    assert.deepEqual([life.nodeId, world.host.isHeld], [undefined, false])
    assert.equal(life.moveFailure?.why, 'its new host has a version of Roost that moves no volumes')
  })

  it('sleeps on there, and traffic wakes it there', async () => {
    world = await beginWorld(env)
    await sleeps()
    await move()
    const life = await isOver()
    assert.deepEqual([life.state, life.nodeId], ['standby', to().nodeId])
    assert.deepEqual([world.otherHost.permit, world.otherHost.isHeld], [2, false])
    assert.deepEqual(calls()[1], ['fetch', 'take'])
  })

  it('says what it does, and refuses another host meanwhile', async () => {
    const gate = Promise.withResolvers<void>()
    world = await beginWorld(env, { other: { fetchGate: () => gate.promise } })
    await move()
    await says(/- moves to host \S+-other: what it has is fetched, since /)
    await assert.rejects(move('other', { nodeId: 'third', address: '10.64.32.1' }), {
      name: 'MoveRefused',
      message: `it is moving to host ${to().nodeId} now; wait until that is over, and ask again`,
    })
    await move('the same')
    gate.resolve()
    await world.reaches((row) => row.boot === 2 && row.state === InstanceState.Running)
    assert.deepEqual(calls()[1], ['fetch', 'start'])
  })

  it('starts again where it was if it can not be fetched, and says why', async () => {
    const fails = () => ApplicationFailure.create({ message: 'no room', nonRetryable: true })
    world = await beginWorld(env, { other: { fetches: fails } })
    await move()
    await world.reaches((row) => row.boot === 2 && row.state === InstanceState.Running)
    assert.deepEqual([...world.host.running], [2])
    assert.equal(world.row.record?.move?.failure, 'no room')
    assert.deepEqual(calls()[1], ['fetch'])
  })

  const earlier = { 'old host': { isEarlier: true }, 'new host': { other: { isEarlier: true } } }
  for (const [which, options] of Object.entries(earlier)) {
    it(`goes on where it is if the agent of its ${which} has a version that moves nothing`, async () => {
      const why = 'one of its hosts has a version of Roost that moves no instances'
      world = await beginWorld(env, options)
      await move()
      await world.reaches((row) => row.boot === 2 && row.state === InstanceState.Running)
      assert.equal(world.row.record?.move?.failure, why)
      await sleeps()
      await move('asleep')
      const life = await isOver()
      assert.deepEqual([life.state, life.nodeId, life.moveFailure?.why], ['standby', undefined, why])
    })
  }

  it('runs on with a sentence if its host can not let it go', async () => {
    const stays = () =>
      ApplicationFailure.create({ type: 'BootFailed', message: 'no mesh', nonRetryable: true })
    world = await beginWorld(env, { standByFails: stays })
    await move()
    await until('the end of the move', async () => (await world.life()).moveFailure !== undefined, soon)
    assert.equal(
      (await world.life()).moveFailure?.why,
      'its host takes part in no mesh, or can not let its volume go',
    )
    assert.deepEqual([...world.host.running], [1])
  })

  it('does not wait for a new host that takes no work', async () => {
    world = await beginWorld(env, { otherAway: true })
    await sleeps()
    await move()
    const life = await isOver()
    assert.deepEqual([life.state, life.nodeId, world.host.isHeld], ['standby', undefined, false])
    assert.equal(life.moveFailure?.why, `host ${to().nodeId} takes no work`)
    assert.equal(world.host.calls.at(-1)?.call, 'release')
  })

  it('asks no host for anything while the row is written, and then the one that the row names', async () => {
    const writing = Promise.withResolvers<void>()
    let isAway = true
    const rowMoves = async () => {
      writing.resolve()
      if (isAway) throw new Error('the database is away')
      return undefined
    }
    world = await beginWorld(env, { rowMoves })
    await sleeps()
    await move()
    await writing.promise
    await world.control.stop(world.settings, { force: true, drainTimeoutMs: 0 }, 'stop')
    assert.equal((await world.life()).state, InstanceState.Stopping)
    assert.deepEqual(calls(), [['start', 'stand-by', 'hold'], ['fetch']])
    isAway = false
    await world.reachesState(InstanceState.Stopped)
    assert.deepEqual(calls(), [
      ['start', 'stand-by', 'hold'],
      ['fetch', 'stop'],
    ])
  })

  it('stays if the row can not name the new host', async () => {
    world = await beginWorld(env, { rowMoves: async () => 'host h2 takes nothing new any more' })
    await sleeps()
    await move()
    const life = await isOver()
    assert.deepEqual([life.nodeId, life.moveFailure?.why], [undefined, 'host h2 takes nothing new any more'])
    assert.equal(world.host.isHeld, false)
  })
})
