import { strict as assert } from 'node:assert'
import { ApplicationFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createAlignmentActivities } from '../../../activities/autoscale/alignment.ts'
import type { AlignResult } from '../../../activities/autoscale/activities.ts'
import { ControlUnavailable } from '../../../src/control/control-unavailable.ts'
import { InstanceGone } from '../../../src/domain/instance/instance-gone.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import { findUnstarted } from '../../../src/db/instance/records.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { autoscaleRows, testCooldownMs } from '../../support/autoscale-rows.ts'

describe('the activities of an autoscale workflow', () => {
  const rows = autoscaleRows()
  const { newUser, scaled, configure, unconfigure, clones, grown, tell } = rows
  const database = () => rows.database()
  let told: string[] = []
  let failure: ((call: string) => Error | undefined) | undefined
  beforeEach(() => {
    told = []
    failure = undefined
  })

  const tells = (call: string) => {
    told.push(call)
    const error = failure?.(call)
    if (error !== undefined) throw error
  }
  const activities = () =>
    createAlignmentActivities({
      ...rows.deps(),
      instances: {
        ensureStarted: async ({ name }) => tells(`begin ${name}`),
        retire: async ({ name, instanceUuid }, drainMs, requestId) =>
          tells(`retire ${name} within ${drainMs} as ${requestId.replace(instanceUuid, 'itself')}`),
        start: async ({ name }, requestId) => {
          tells(`start ${name} as ${requestId}`)
          return { previousState: InstanceState.Stopped, state: InstanceState.Starting, revision: 1 }
        },
      },
    })
  /** Logs errors only: the assertions show what is thrown. */
  const env = () => new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  const align = (service: { readonly uuid: string }, target: number): Promise<AlignResult> =>
    env().run(activities().alignService, {
      serviceUuid: service.uuid,
      target,
      cause: { kind: 'align' as const, target, size: 1 },
      mayAdd: true,
    })
  const close = (service: { readonly uuid: string }) =>
    env().run(activities().closeAutoscale, { serviceUuid: service.uuid })
  const unstarted = async (service: { readonly uuid: string }) => {
    const own = (await clones(service)).map(({ uuid }) => uuid)
    const found = await findUnstarted(database(), { olderThanMs: -1_000, limit: 1_000 })
    return found.filter(({ instanceUuid }) => own.includes(instanceUuid)).length
  }

  it('begins the workflows of clones that are added, and notes that', async () => {
    const service = await scaled(await newUser())
    const { size, added, givenBack } = await align(service, 3)
    const names = (await clones(service)).map(({ name }) => name)
    assert.deepEqual([size, added, givenBack], [3, names, []])
    assert.deepEqual(new Set(told), new Set(names.map((name) => `begin ${name}`)))
    assert.equal(await unstarted(service), 0)
  })

  it('retires clones that are given back, with their drain and under one id each', async () => {
    const service = await scaled(await newUser())
    const [first, second] = await grown(service, 2)
    await tell(first!, InstanceState.Stopped)
    const { size, givenBack } = await align(service, 1)
    assert.deepEqual([size, givenBack.length], [1, 2])
    assert.deepEqual(
      new Set(told),
      new Set([
        `retire ${first!.name} within 500 as retire/itself`,
        `retire ${second!.name} within ${testCooldownMs} as retire/itself`,
      ]),
    )
  })

  it('leaves a clone that it can not tell to the sweep, and tells the others', async () => {
    const service = await scaled(await newUser())
    let calls = 0
    failure = () => (calls++ === 0 ? new ControlUnavailable('nobody answers') : undefined)
    const { size, added } = await align(service, 4)
    assert.deepEqual([size, added.length, told.length], [4, 3, 3])
    assert.equal(await unstarted(service), 1)
    await align(service, 4)
    assert.equal(told.length, 3)
  })

  it('says in words what was refused, and that there is nothing to align', async () => {
    const service = await scaled(await newUser({ instances: 2 }))
    const { size, added, refusal } = await align(service, 3)
    assert.deepEqual([size, added.length], [2, 1])
    assert.equal(refusal, "quota 'instances' exceeded: 3 with one more, 2 allowed")
    await unconfigure(service)
    const nothing = { size: 0, target: 0, added: [], givenBack: [], closing: true }
    assert.deepEqual(await align(service, 3), nothing)
  })

  it('closes a deleted configuration: clones retired, master started, row gone; and says so when called again', async () => {
    const service = await scaled(await newUser())
    const [clone] = await grown(service, 1)
    await tell(service.master, InstanceState.Stopped)
    await unconfigure(service)
    assert.deepEqual(await close(service), { closed: true })
    const [retired, started, ...others] = told
    assert.equal(retired, `retire ${clone!.name} within ${testCooldownMs} as retire/itself`)
    assert.match(String(started), new RegExp(`^start ${service.master.name} as close/${service.uuid}/\\d+$`))
    assert.deepEqual(others, [])
    assert.deepEqual(await close(service), { closed: true })
    assert.equal(told.length, 2)
  })

  it('keeps the row while the master can not be told, and later starts the master under the same id', async () => {
    const user = await newUser()
    const service = await scaled(user)
    await tell(service.master, InstanceState.Stopped)
    await unconfigure(service)
    failure = () => new ControlUnavailable('nobody answers')
    await assert.rejects(close(service), ApplicationFailure)
    assert.equal((await readQuotas(database(), user.uuid))?.used.liveInstances, 0)
    failure = undefined
    assert.deepEqual(await close(service), { closed: true })
    assert.equal(told.length, 2)
    assert.equal(told[0], told[1])
    assert.equal((await readQuotas(database(), user.uuid))?.used.liveInstances, 1)
  })

  it('closes if the master is gone, or the quotas keep it stopped', async () => {
    const busy = await newUser({ liveInstances: 1 })
    const [gone, kept] = [await scaled(await newUser()), await scaled(busy)]
    for (const service of [gone, kept]) {
      await tell(service.master, InstanceState.Stopped)
      await unconfigure(service)
    }
    failure = (call) => (call.startsWith('start') ? new InstanceGone(gone.master.uuid) : undefined)
    assert.deepEqual(await close(gone), { closed: true })
    failure = undefined
    told = []
    await rows.instances(busy, { autostart: true })
    assert.deepEqual(await close(kept), { closed: true })
    assert.deepEqual(told, [])
  })

  it('keeps the row while clones hold what the start of the master needs', async () => {
    const user = await newUser({ liveInstances: 2 })
    const service = await scaled(user)
    await grown(service, 1)
    await tell(service.master, InstanceState.Stopped)
    await align(service, 2)
    const standIns = await clones(service)
    await unconfigure(service)
    for (let attempt = 0; attempt < 2; attempt++)
      await assert.rejects(
        close(service),
        /is not started before its clones are gone: quota 'live_instances'/,
      )
    assert.ok(!told.some((call) => call.startsWith('start')))
    for (const { uuid } of standIns) await markDeleted(database(), user.uuid, uuid)
    told = []
    assert.deepEqual(await close(service), { closed: true })
    assert.equal(told.length, 1)
    assert.match(String(told[0]), /^start /)
  })

  it('neither closes a service that is configured again, nor starts its master', async () => {
    const service = await scaled(await newUser())
    await tell(service.master, InstanceState.Stopped)
    await unconfigure(service)
    await configure(service)
    assert.deepEqual(await close(service), { closed: false })
    assert.deepEqual(told, [])
  })

  it('keeps the text of a database error out of its failure', async () => {
    const service = await scaled(await newUser(), {}, { env: { TOKEN: 'xyzzy' } })
    const broken = createAlignmentActivities({
      ...rows.deps({
        secretBox: {
          seal: () => assert.fail('xyzzy was not sealed'),
          open: () => assert.fail('xyzzy was not opened'),
        },
      }),
      instances: {
        ensureStarted: () => assert.fail(),
        retire: () => assert.fail(),
        start: () => assert.fail(),
      },
    })
    const cause = { kind: 'align', target: 2, size: 1 } as const
    const input = { serviceUuid: service.uuid, target: 2, cause, mayAdd: true }
    await assert.rejects(env().run(broken.alignService, input), (error: unknown) => {
      assert.ok(error instanceof ApplicationFailure)
      assert.equal(error.nonRetryable, false)
      assert.doesNotMatch(JSON.stringify([error.message, error.details, error.cause?.message]), /xyzzy/)
      return true
    })
    assert.deepEqual(await clones(service), [])
  })
})
