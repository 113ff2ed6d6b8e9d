import { strict as assert } from 'node:assert'
import type { InstanceRow } from '../../../src/db/instance/row.ts'
import { findInstances } from '../../../src/db/instance/instances.ts'
import { setQuotas } from '../../../src/db/account/users.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { addClone } from '../../support/autoscale-records.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { readRows } from '../../support/rows.ts'

describe('autoscale configurations', () => {
  let api: TestApi
  let user: TestUser
  let service: string
  let master: string
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    delete api.autoscaleControl.faults.isAway
    api.autoscaleControl.calls.length = 0
    user = await api.addUser()
    const created = await user.api.one('createInstances', {
      body: { image: 'hello', name: 'web', service_group: { services: [{ port: 443 }] } },
    })
    master = created.uuid
    assert.ok(created.service_group)
    service = created.service_group.uuid
  })

  const grow = { name: 'grow', type: 'step', steps: [{ lower_bound: 500, adjustment: 1 }] }
  const configure = (body: object = {}) =>
    user.api.one('createAutoscale', { object: service, body: { master: { uuid: master }, ...body } })
  const serviceName = async () => (await user.api.one('getServices', { object: service })).name
  const rowOf = async (uuid: string): Promise<InstanceRow> => {
    const [row] = await findInstances(api.database, { userUuid: user.uuid }, [{ uuid }])
    assert.ok(row)
    return row
  }
  /** Asks for a configuration that is refused. Returns the code and message of its one entry. */
  const refused = async (input: { readonly object?: string; readonly body?: unknown }) => {
    const { entries, errors } = await user.api.attempt('createAutoscale', input)
    assert.deepEqual([entries.length, errors], [1, []])
    const [entry] = entries
    assert.ok(entry !== undefined && 'error' in entry, JSON.stringify(entry))
    return { code: entry.error, message: entry.message }
  }
  /** Asks for a configuration that is refused as a whole. Returns code and message of each error. */
  const invalid = async (body: object) => {
    const answer = await user.api.attempt('createAutoscale', { object: service, body })
    assert.deepEqual([answer.httpStatus, answer.entries], [400, []])
    return answer.errors.map(({ error, message }) => [error, message])
  }

  it('is made with defaults, shown, and makes its service persistent', async () => {
    assert.deepEqual(await user.api.one('getAutoscale', { object: service }), {
      status: 'unconfigured',
      uuid: service,
      name: await serviceName(),
    })
    assert.deepEqual(await configure(), { status: 'success', uuid: service, name: await serviceName() })
    assert.deepEqual(await user.api.one('getAutoscale', { object: service }), {
      status: 'success',
      uuid: service,
      name: await serviceName(),
      enabled: true,
      min_size: 1,
      max_size: 4,
      warmup_time_ms: 1_000,
      cooldown_time_ms: 1_000,
      master: { uuid: master, name: 'web' },
      policies: [],
    })
    const { autoscale, persistent } = await user.api.one('getServices', { object: service })
    assert.deepEqual([autoscale, persistent], [true, true])
    assert.deepEqual(api.autoscaleControl.calls, [`configured ${service}`])
  })

  it('has the sizes, times and policies that it was given', async () => {
    const bounds = { min_size: 2, max_size: 9, warmup_time_ms: 0, cooldown_time_ms: 3_600_000 }
    await configure({ ...bounds, policies: [grow, { ...grow, name: 'shrink' }] })
    const shown = await user.api.one('getAutoscale', { object: service })
    assert.partialDeepStrictEqual(shown, bounds)
    assert.deepEqual(
      shown.policies?.map(({ name }) => name),
      ['grow', 'shrink'],
    )
  })

  it('is found in global scope by the service that the body, of one object or several, or the query names', async () => {
    const name = await serviceName()
    const second = await user.api.one('createServices', { body: { name: 'second' } })
    const made = await user.api.attempt('createAutoscale', {
      body: [
        { uuid: '', name, master: { uuid: '', name: 'WEB' }, max_size: 3 },
        { name: 'second', master: { name: 'web' } },
        { name: 'nowhere', master: { name: 'web' } },
      ],
    })
    assert.equal(made.status, 'partial_success')
    assert.deepEqual(
      made.entries.map((entry) => ('error' in entry ? entry.error : entry.name)),
      [name, 21, 8],
    )
    const shown = await user.api.call('getAutoscale', { query: { name: `second,${name}` } })
    assert.deepEqual(
      shown.map(({ status, uuid }) => [status, uuid]),
      [
        ['unconfigured', second.uuid],
        ['success', service],
      ],
    )
    const all = await user.api.call('getAutoscale')
    assert.deepEqual(
      all.map(({ uuid, status }) => [uuid, status]),
      [
        [service, 'success'],
        [second.uuid, 'unconfigured'],
      ],
    )
    assert.equal(
      (await user.api.one('getAutoscale', { query: { count: '1', from: service } })).name,
      'second',
    )
    const [deleted] = await user.api.call('deleteAutoscale', { body: [{ uuid: service }] })
    assert.deepEqual(deleted, { status: 'success', uuid: service, name })
  })

  it('takes the name of the service in the path, in upper or lower case', async () => {
    const object = (await serviceName()).toUpperCase()
    const body = { master: { name: 'web' } }
    assert.equal((await user.api.one('createAutoscale', { object, body })).uuid, service)
    assert.equal((await user.api.one('getAutoscale', { object })).status, 'success')
    assert.equal((await user.api.one('deleteAutoscale', { object })).uuid, service)
  })

  describe('are refused', () => {
    it('for a master that is none: missing, elsewhere, made by autoscale, with a volume', async () => {
      const asMaster = (named: object) => refused({ object: service, body: { master: named } })
      assert.deepEqual(await asMaster({ name: 'nobody' }), {
        code: 8,
        message: "No instance with name 'nobody'",
      })
      await user.api.one('createInstances', { body: { image: 'hello', name: 'apart' } })
      assert.deepEqual(await asMaster({ name: 'apart' }), {
        code: 21,
        message: `Instance 'apart' is not attached to service group '${await serviceName()}'`,
      })
      const clone = await addClone(api.database, await rowOf(master))
      assert.deepEqual(await asMaster({ uuid: clone.uuid }), {
        code: 25,
        message: `Instance '${clone.name}' cannot be a master: autoscale made it itself`,
      })
      await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
      const mount = { attach_to: { name: 'web' }, at: '/data' }
      await user.api.one('attachVolumes', { object: 'data', body: mount })
      assert.deepEqual(await asMaster({ name: 'web' }), {
        code: 24,
        message:
          "Instance 'web' cannot be a master, because clones can not share its volume 'data': detach that first",
      })
    })

    it('for a service that is configured, whichever the master', async () => {
      await configure()
      const message =
        `Autoscale is already configured for service group '${await serviceName()}', with master 'web': delete that ` +
        'configuration first'
      assert.deepEqual(await refused({ object: service, body: { master: { name: 'web' } } }), {
        code: 26,
        message,
      })
      const attached = { image: 'hello', name: 'other', service_group: { uuid: service } }
      await user.api.one('createInstances', { body: attached })
      const again = await refused({ object: service, body: { master: { name: 'other' } } })
      assert.deepEqual(again, { code: 26, message })
      assert.equal(api.autoscaleControl.calls.length, 1)
    })

    it('for an account without autoscale, and for sizes outside the limits of the account', async () => {
      const body = { master: { name: 'web' } }
      await setQuotas(api.database, user.name, { limits: { minAutoscaleSize: 2, maxAutoscaleSize: 6 } })
      for (const [size, name, value] of [
        [{ min_size: 1 }, 'min_size', 1],
        [{ max_size: 7 }, 'max_size', 7],
        [{ min_size: 0 }, 'min_size', 0],
      ] as const) {
        const message = `Value of '${name}' must be in the range 2 to 6, which are your account's limits: ${value} is not`
        assert.deepEqual(await refused({ object: service, body: { ...body, ...size } }), {
          code: 29,
          message,
        })
      }
      const message = "Value of 'min_size' must not be above that of 'max_size': 5 is above 4"
      assert.deepEqual(await refused({ object: service, body: { ...body, min_size: 5 } }), {
        code: 7,
        message,
      })
      await setQuotas(api.database, user.name, { limits: { minAutoscaleSize: 1, maxAutoscaleSize: 1 } })
      assert.deepEqual(await refused({ object: service, body }), {
        code: 28,
        message: 'Autoscale not enabled for your account',
      })
    })

    it('with a body that is invalid for every account, before anything is made', async () => {
      const body = { master: { name: 'web' } }
      const place = 'autoscale creation arguments'
      assert.deepEqual(await invalid({}), [[7, `Missing 'master' in ${place}`]])
      assert.deepEqual(await invalid({ master: {} }), [
        [13, `Missing identifier in 'master' of ${place}: give one of 'uuid' and 'name'`],
      ])
      assert.deepEqual(await invalid({ master: { uuid: master, name: 'web' } }), [
        [17, `'uuid' and 'name' cannot be given together in 'master' of ${place}`],
      ])
      assert.deepEqual(await invalid({ ...body, min_size: 4, max_size: 3 }), [
        [7, "Value of 'min_size' must not be above that of 'max_size': 4 is above 3"],
      ])
      assert.deepEqual(await invalid({ ...body, warmup_time_ms: -1, cooldown_time_ms: 3_600_001 }), [
        [7, "Value of 'warmup_time_ms' must be in the range 0 to 3600000"],
        [7, "Value of 'cooldown_time_ms' must be in the range 0 to 3600000"],
      ])
      assert.deepEqual(await invalid({ ...body, max_size: 2.5 }), [
        [7, `'max_size' in ${place} has type 'number', but expected 'integer'`],
      ])
      assert.deepEqual(await invalid({ ...body, policies: [grow, grow] }), [
        [23, `Policy 'grow' is given more than once in ${place}`],
      ])
      const many = Array.from({ length: 17 }, (_, index) => ({ ...grow, name: `p${index}` }))
      assert.deepEqual(await invalid({ ...body, policies: many }), [
        [5, "Value of 'policies' has too many elements: 17, but at most 16"],
      ])
      assert.equal((await user.api.one('getAutoscale', { object: service })).status, 'unconfigured')
    })
  })

  it('are made once if several requests ask at once', async () => {
    const body = { master: { name: 'web' } }
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => user.api.attempt('createAutoscale', { object: service, body })),
    )
    const codes = answers.flatMap(({ entries }) =>
      entries.map((entry) => ('error' in entry ? entry.error : 0)),
    )
    assert.deepEqual(
      codes.toSorted((a, b) => a - b),
      [0, 26, 26, 26],
    )
  })

  it('are made and deleted also while the workflows can not be reached', async () => {
    api.autoscaleControl.faults.isAway = true
    await configure()
    assert.equal((await user.api.one('getAutoscale', { object: service })).status, 'success')
    const unstarted = async () => {
      const [row] = await readRows<{ started: boolean; deleted: boolean }>(api.database, {
        text: `select workflow_started_at is not null as started, deleted_at is not null as deleted
               from autoscale_configurations where service_uuid = $1`,
        values: [service],
      })
      return row
    }
    assert.deepEqual(await unstarted(), { started: false, deleted: false })
    await user.api.one('deleteAutoscale', { object: service })
    assert.deepEqual(await unstarted(), { started: false, deleted: true })
    delete api.autoscaleControl.faults.isAway
    await configure()
    assert.deepEqual(await unstarted(), { started: true, deleted: false })
  })

  describe('that are deleted', () => {
    it('are unconfigured at once, and their workflow hears of it', async () => {
      await configure()
      const clone = await addClone(api.database, await rowOf(master))
      await user.api.one('deleteAutoscale', { object: service })
      assert.deepEqual(api.autoscaleControl.calls, [`configured ${service}`, `delete ${service}`])
      assert.equal((await user.api.one('getAutoscale', { object: service })).status, 'unconfigured')
      assert.equal((await user.api.one('getServices', { object: service })).autoscale, false)
      const start = await user.api.attempt('startInstances', { object: clone.uuid })
      assert.partialDeepStrictEqual(start.entries[0], {
        uuid: clone.uuid,
        error: 25,
        message: `Instance '${clone.name}' can not be started: autoscale is giving it back, and deletes it`,
      })
      assert.ok(!api.control.calls.includes('start'))
    })

    it('can not be deleted again, nor can a configuration that never was', async () => {
      await configure()
      await user.api.one('deleteAutoscale', { object: service })
      const other = await user.api.one('createServices', { body: {} })
      const answer = await user.api.attempt('deleteAutoscale', {
        body: [{ uuid: service }, { uuid: other.uuid }, { name: 'nowhere' }],
      })
      assert.deepEqual(
        answer.entries.map((entry) => 'error' in entry && [entry.error, entry.message]),
        [
          [27, `Autoscale is not configured for service group '${await serviceName()}'`],
          [27, `Autoscale is not configured for service group '${other.name}'`],
          [8, "No service group with name 'nowhere'"],
        ],
      )
      assert.equal(api.autoscaleControl.calls.filter((call) => call.startsWith('delete')).length, 1)
    })

    it('keep the service as long as instances are attached', async () => {
      await configure()
      await addClone(api.database, await rowOf(master))
      await user.api.one('deleteAutoscale', { object: service })
      const answer = await user.api.attempt('deleteServices', { object: service })
      assert.partialDeepStrictEqual(answer.entries[0], { error: 15 })
    })
  })

  describe('and instances', () => {
    it('that autoscale made show their master; others show none', async () => {
      const clone = await addClone(api.database, await rowOf(master))
      const shown = await user.api.one('getInstances', { object: clone.uuid })
      assert.deepEqual(shown.clone_of, { uuid: master, name: 'web' })
      const all = await user.api.call('getInstances')
      assert.deepEqual(
        all.map((each) => [each.uuid, each.clone_of?.name]),
        [
          [master, undefined],
          [clone.uuid, 'web'],
        ],
      )
    })

    it('have no volume attached, as a master or as a clone', async () => {
      await configure()
      const clone = await addClone(api.database, await rowOf(master))
      await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
      const attach = async (attach_to: object) => {
        const body = { attach_to, at: '/data' }
        const { entries } = await user.api.attempt('attachVolumes', { object: 'data', body })
        return entries.map((entry) => 'error' in entry && [entry.name, entry.error, entry.message])
      }
      const name = await serviceName()
      assert.deepEqual(await attach({ uuid: master }), [
        [
          'data',
          26,
          `Instance 'web' cannot have a volume: it is the master of autoscale for service group '${name}', and clones can not share it`,
        ],
      ])
      assert.deepEqual(await attach({ uuid: clone.uuid }), [
        [
          'data',
          25,
          `Instance '${clone.name}' cannot have a volume: autoscale made it, and deletes it when it is not needed`,
        ],
      ])
    })

    it('that are the master are deleted together with the configuration and all clones', async () => {
      await configure()
      const clones = [
        await addClone(api.database, await rowOf(master)),
        await addClone(api.database, await rowOf(master)),
      ]
      api.control.calls.length = 0
      const [deleted, ...more] = await user.api.call('deleteInstances', { body: [{ name: 'web' }] })
      assert.deepEqual([deleted?.uuid, more], [master, []])
      assert.deepEqual(await user.api.call('getInstances'), [])
      assert.equal((await user.api.one('getAutoscale', { object: service })).status, 'unconfigured')
      assert.deepEqual(api.autoscaleControl.calls, [`configured ${service}`, `delete ${service}`])
      assert.deepEqual(api.control.calls, ['delete', 'delete', 'delete'])
      for (const { uuid } of clones) {
        const { entries } = await user.api.attempt('getInstances', { object: uuid })
        assert.partialDeepStrictEqual(entries[0], { error: 8 })
      }
      assert.equal((await user.api.one('getQuotas')).used.instances, 0)
      await user.api.one('deleteServices', { object: service })
    })

    it('that are the master are deleted with all clones also while the workflows can not be reached', async () => {
      await configure()
      const clone = await addClone(api.database, await rowOf(master))
      await addClone(api.database, await rowOf(master))
      api.autoscaleControl.faults.isAway = true
      api.control.faults.isAway = true
      const named = await user.api.call('deleteInstances', { body: [{ uuid: master }, { uuid: clone.uuid }] })
      assert.deepEqual([named[0]?.name, named[1]?.name], ['web', clone.name])
      assert.deepEqual(await user.api.call('getInstances'), [])
    })

    it('that autoscale made are deleted as any other, and leave the configuration alone', async () => {
      await configure()
      const clone = await addClone(api.database, await rowOf(master))
      await user.api.one('deleteInstances', { object: clone.uuid })
      assert.equal((await user.api.one('getAutoscale', { object: service })).status, 'success')
      assert.equal((await user.api.one('getInstances', { object: master })).name, 'web')
    })
  })
})
