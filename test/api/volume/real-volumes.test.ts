import { strict as assert } from 'node:assert'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { createControlActivities } from '../../../activities/control-activities.ts'
import { createVolumeControl } from '../../../src/control/temporal-volume-control.ts'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { volumeEventSignal, volumeWorkflowId } from '../../../workflows/volume/messages.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { FakeVolumeHosts } from '../../support/fake-volume-host.ts'
import { runWorkers, startDevServer } from '../../support/temporal.ts'
import type { RunningWorkers } from '../../support/temporal.ts'
import { until } from '../../support/until.ts'
import { readRows } from '../../support/rows.ts'

const soon = { limitMs: 40_000 }

describe('volumes with their workflows', () => {
  let env: TestWorkflowEnvironment
  let api: TestApi
  let user: TestUser
  let workers: RunningWorkers
  const hosts = new FakeVolumeHosts()
  before(async function () {
    this.timeout(120_000)
    env = await startDevServer()
    api = await startTestApi({
      volumeControl: createVolumeControl(env.client),
      settings: { makingVolumesMs: soon.limitMs },
    })
    workers = await runWorkers(env, {
      control: createControlActivities({ database: api.database }),
      hosts: { local: hosts.activities },
    })
  })
  after(async function () {
    this.timeout(60_000)
    await workers.stop()
    await api.close()
    await env.teardown()
  })
  beforeEach(async () => {
    hosts.behaviour = {}
    user = await api.addUser()
  })

  const create = () => user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
  const view = () => user.api.one('getVolumes', { object: 'data' })
  const rows = async (uuid: string) =>
    readRows(api.database, {
      text: 'select 1 from volumes where uuid = $1',
      values: [uuid],
    })

  it('are available when their create is answered, and nothing is left of them some time after their delete', async () => {
    const { uuid } = await create()
    assert.equal((await view()).state, 'available')
    await user.api.one('deleteVolumes', { object: 'data' })
    assert.deepEqual(await user.api.call('listVolumes'), [])
    await until('its row is gone', async () => (await rows(uuid)).length === 0, soon)
    assert.deepEqual(hosts.byVolume.get(uuid)?.calls, ['make', 'remove'])
  })

  it('tell what their host found wrong with them', async () => {
    const { uuid } = await create()
    const event = { kind: 'damaged', reason: 'its file is gone' } as const
    await env.client.workflow.getHandle(volumeWorkflowId(uuid)).signal(volumeEventSignal, event)
    await until('the error is seen', async () => (await view()).state === 'error', soon)
    assert.equal((await view()).reason, 'its file is gone')
  })

  it('that can not be made are answered with a success, and say in their status why they could not be made', async () => {
    hosts.behaviour = { failureOf: () => HostFailure.VolumeUnusable }
    await create()
    const { state, reason } = await view()
    assert.equal(state, 'error')
    assert.match(reason ?? '', /VolumeUnusable/)
  })

  it('are made beside the instance that they were asked for with, and go with it', async () => {
    const volumes = [{ size_mb: 8, at: '/data' }]
    await user.api.one('createInstances', { body: { image: 'hello', name: 'app', volumes } })
    const { uuid } = await user.api.one('listVolumes')
    const state = async () => (await user.api.one('getVolumes', { object: uuid })).state
    await until('it is made', async () => (await state()) === 'idle', soon)
    await user.api.one('deleteInstances', { object: 'app' })
    await until('its row is gone', async () => (await rows(uuid)).length === 0, soon)
    assert.deepEqual(hosts.byVolume.get(uuid)?.calls, ['make', 'remove'])
  })
})
