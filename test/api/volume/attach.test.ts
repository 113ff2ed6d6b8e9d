import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import type { CallInput } from '../../support/api-client.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { addNode } from '../../support/accounts.ts'
import { readRows } from '../../support/rows.ts'
import { assertShows } from '../../support/shown-fields.ts'

describe('volumes and the instances that have them', () => {
  let api: TestApi
  let user: TestUser
  let volume: string
  let instance: string
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    for (const fault of Object.keys(api.volumeControl.faults)) {
      delete api.volumeControl.faults[fault as keyof typeof api.volumeControl.faults]
    }
    user = await api.addUser()
    volume = (await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })).uuid
    instance = (await user.api.one('createInstances', { body: { image: 'hello', name: 'app' } })).uuid
  })

  const attach = (body: object) => user.api.attempt('attachVolumes', { body })
  const attached = (body: object = {}) =>
    user.api.one('attachVolumes', {
      body: { name: 'data', attach_to: { name: 'app' }, at: '/data', ...body },
    })
  const detach = (body: object) => user.api.attempt('detachVolumes', { body })
  const view = (object = 'data') => user.api.one('getVolumes', { object })
  const mounts = async (object = 'app') => (await user.api.one('getInstances', { object })).volumes
  const failed = (error: number, message: string, name = 'data') => ({
    status: 'error',
    uuid: volume,
    name,
    message,
    error,
  })
  const ok = () => ({ status: 'success', uuid: volume, name: 'data' })

  describe('attach', () => {
    it('is seen on both sides, idle while the instance is stopped and mounted while it runs', async () => {
      assert.deepEqual(await mounts(), [])
      assert.deepEqual(await attached({ readonly: true }), ok())
      const holder = { uuid: instance, name: 'app' }
      assert.deepEqual(await mounts(), [{ uuid: volume, name: 'data', at: '/data', readonly: true }])
      assertShows(await view(), {
        state: 'idle',
        attached_to: [holder],
        mounted_by: [],
        readonly: true,
        persistent: true,
      })
      await user.api.one('startInstances', { object: 'app' })
      assert.partialDeepStrictEqual(await view(), {
        state: 'mounted',
        attached_to: [holder],
        mounted_by: [{ ...holder, readonly: true }],
      })
    })

    it('takes each setting of the mount either beside `attach_to` or inside it', async () => {
      const to = { name: 'app' }
      for (const body of [
        { attach_to: to, at: '/data', readonly: true },
        { attach_to: { ...to, at: '/data', readonly: true } },
        { attach_to: { ...to, at: '/data' }, readonly: true },
        { attach_to: { uuid: '', ...to, readonly: true }, at: '//data/' },
      ]) {
        assert.deepEqual((await attach({ name: 'data', ...body })).entries, [ok()])
        assert.deepEqual(await mounts(), [{ uuid: volume, name: 'data', at: '/data', readonly: true }])
        await user.api.one('detachVolumes', { object: 'data' })
      }
    })

    it('works in local scope, and for what the query names', async () => {
      const body = { attach_to: { uuid: instance }, at: '/data' }
      assert.deepEqual(await user.api.one('attachVolumes', { object: 'data', body }), ok())
      await user.api.one('detachVolumes', { object: volume })
      assert.deepEqual(await user.api.one('attachVolumes', { query: { name: 'data' }, body }), ok())
    })

    const invalid: readonly [string, object, RegExp][] = [
      ['no instance', { at: '/data' }, /^Missing 'attach_to' in volume attach arguments$/],
      [
        'an instance without identifier',
        { attach_to: {}, at: '/d' },
        /^Missing identifier in 'attach_to' of/,
      ],
      [
        'an instance with two identifiers',
        { attach_to: { name: 'a', uuid: '11111111-1111-4111-8111-111111111111' }, at: '/d' },
        /^'uuid' and 'name' cannot be given together in 'attach_to' of/,
      ],
      ['no path', { attach_to: { name: 'app' } }, /^Missing 'at' in volume attach arguments$/],
      [
        'two paths',
        { attach_to: { name: 'app', at: '/data' }, at: '/data' },
        /^'at' and 'attach_to.at' cannot be given together/,
      ],
      [
        'readonly twice',
        { attach_to: { name: 'app', readonly: true }, at: '/data', readonly: true },
        /^'readonly' and 'attach_to.readonly' cannot be given together/,
      ],
      [
        'a relative path',
        { attach_to: { name: 'app' }, at: 'data' },
        /^Invalid mount path 'data': it must be absolute/,
      ],
      [
        'a path with a colon',
        { attach_to: { name: 'app' }, at: '/a:b' },
        /^Invalid mount path '\/a:b': .* no colon$/,
      ],
      [
        'a path with ..',
        { attach_to: { name: 'app', at: '/a/../etc' } },
        /^Invalid mount path '\/a\/\.\.\/etc': it must have no component '\.' or '\.\.'$/,
      ],
      ['the root', { attach_to: { name: 'app' }, at: '//' }, /must be a directory below '\/'$/],
      [
        "a directory of the platform's",
        { attach_to: { name: 'app' }, at: '/proc/x' },
        /must not lie in '\/proc'/,
      ],
      [
        'an unknown parameter',
        { attach_to: { name: 'app', to: 1 }, at: '/d' },
        /^Unknown parameter 'attach_to.to'/,
      ],
      [
        'a path that is too long',
        { attach_to: { name: 'app' }, at: `/${'a/'.repeat(2_048)}` },
        /^Value of 'at' in volume attach|^Value of 'at' is too long: at most 4095 characters$/,
      ],
    ]
    for (const [what, body, message] of invalid) {
      it(`is refused as a whole for ${what}`, async () => {
        const answer = await attach([
          { name: 'data', attach_to: { name: 'app' }, at: '/data' },
          { name: 'data', ...body },
        ])
        assert.equal(answer.httpStatus, 400)
        assert.match(answer.errors[0]?.message.replace('[1].', '') ?? '', message)
        assert.equal((await view()).state, 'available')
      })
    }

    it('names an instance that does not exist', async () => {
      const missing = '11111111-1111-4111-8111-111111111111'
      const answer = await attach([
        { name: 'data', attach_to: { name: 'nobody' }, at: '/d' },
        { name: 'data', attach_to: { uuid: missing }, at: '/d' },
      ])
      assert.deepEqual(answer.entries, [
        failed(8, "No instance with name 'nobody'"),
        failed(8, `No instance with uuid '${missing}'`),
      ])
    })

    it('is refused while the instance is not stopped, and while it waits for a restart', async () => {
      for (const state of ['starting', 'running', 'draining', 'stopping', 'standby'] as const) {
        await api.control.record(instance, { state })
        const answer = await attach({ name: 'data', attach_to: { name: 'app' }, at: '/d' })
        const message = `A volume is attached to a stopped instance, but 'app' is in state '${state}': stop it first`
        assert.deepEqual(answer.entries, [failed(11, message)])
      }
      await api.control.record(instance, { state: 'stopped', restartNextAtMs: Date.now() + 60_000 })
      const answer = await attach({ name: 'data', attach_to: { name: 'app' }, at: '/d' })
      const message = "A volume is attached to a stopped instance, but 'app' is about to start: stop it first"
      assert.deepEqual(answer.entries, [failed(11, message)])
      assert.equal((await view()).state, 'available')
    })

    it('is refused for a second volume of an instance, and a second instance of a volume', async () => {
      await attached()
      const other = await user.api.one('createVolumes', { body: { name: 'more', size_mb: 8 } })
      const second = await attach({ name: 'more', attach_to: { name: 'app' }, at: '/more' })
      const full = "Instance 'app' has volume 'data' attached, and can have one: detach that first"
      assert.deepEqual(second.entries, [{ ...failed(15, full, 'more'), uuid: other.uuid }])
      await user.api.one('createInstances', { body: { image: 'hello', name: 'app2' } })
      const taken = "Volume 'data' is attached to instance 'app': detach it first"
      for (const name of ['app', 'app2']) {
        const answer = await attach({ name: 'data', attach_to: { name }, at: '/data' })
        assert.deepEqual(answer.entries, [failed(15, taken)])
      }
    })

    it('is refused while the volume is made, repaired, or broken', async () => {
      const codes = async (name: string) => {
        const { entries } = await attach({ name, attach_to: { name: 'app' }, at: '/data' })
        return entries.map((entry) => ('error' in entry ? [entry.error, entry.message] : entry))
      }
      const unusable = (name: string, state: string) => [
        [24, `Volume '${name}' cannot be used in state '${state}': try again when it is 'available'`],
      ]
      api.volumeControl.faults.holdsWork = true
      await user.api.one('createVolumes', { body: { name: 'new', size_mb: 8 } })
      assert.deepEqual(await codes('new'), unusable('new', 'initializing'))
      await api.volumeControl.tell(volume, { kind: 'repair' })
      assert.deepEqual(await codes('data'), unusable('data', 'busy'))
      await api.volumeControl.tell(volume, { kind: 'repair-failed', reason: 'its superblock is gone' })
      assert.deepEqual(await codes('data'), [
        [
          24,
          "Volume 'data' cannot be used: its superblock is gone; an operator can try 'roost admin volume repair'",
        ],
      ])
    })

    it('is refused where the two are on different hosts', async () => {
      await addNode(api.database, { id: 'far' })
      await readRows(api.database, {
        text: `update volumes set node_id = 'far' where uuid = $1`,
        values: [volume],
      })
      const answer = await attach({ name: 'data', attach_to: { name: 'app' }, at: '/data' })
      await readRows(api.database, {
        text: `update volumes set node_id = 'local' where uuid = $1`,
        values: [volume],
      })
      await readRows(api.database, { text: `delete from nodes where id = 'far'`, values: [] })
      const message =
        "Volume 'data' is on host 'far', instance 'app' on host 'local': create an instance with the volume instead, " +
        'it is placed where the volume is'
      assert.deepEqual(answer.entries, [failed(24, message)])
    })

    it('goes to one of several who ask at once', async () => {
      const names = ['a', 'b', 'c', 'd']
      await user.api.call('createInstances', { body: names.map((name) => ({ image: 'hello', name })) })
      const answers = await Promise.all(
        names.map((name) => attach({ name: 'data', attach_to: { name }, at: '/data' })),
      )
      const errors = answers.flatMap(({ entries }) =>
        entries.flatMap((one) => ('error' in one ? one.error : [])),
      )
      assert.deepEqual(errors, [15, 15, 15])
      assert.equal((await view()).attached_to?.length, 1)
    })
  })

  describe('detach', () => {
    it('frees the volume from whichever instance has it, by body, query and path', async () => {
      const inputs: readonly CallInput[] = [
        { body: { name: 'data' } },
        { body: [{ uuid: volume, name: '' }] },
        { query: { name: 'data' } },
        { query: { uuid: volume } },
        { object: 'data' },
        { object: volume, body: {} },
      ]
      for (const input of inputs) {
        await attached()
        assert.deepEqual(await user.api.one('detachVolumes', input), ok())
        assertShows(await view(), { state: 'available', attached_to: [], persistent: true })
        assert.deepEqual(await mounts(), [])
      }
    })

    it('names the instance in every scope', async () => {
      for (const input of [
        { body: { name: 'data', from: { name: 'app' } } },
        { body: [{ name: 'data', from: { uuid: instance, name: '' } }] },
        { query: { name: 'data' }, body: { from: { name: 'app' } } },
        { object: 'data', body: { from: { uuid: instance } } },
      ]) {
        await attached()
        assert.deepEqual(await user.api.one('detachVolumes', input), ok())
      }
    })

    it('is no error where no instance has the volume, unless it names one', async () => {
      assert.deepEqual((await detach({ name: 'data' })).entries, [ok()])
      const answer = await detach({ name: 'data', from: { name: 'app' } })
      assert.deepEqual(answer.entries, [failed(21, "Volume 'data' is not attached to instance 'app'")])
    })

    it('from another instance than the one that has it changes nothing', async () => {
      await attached()
      await user.api.one('createInstances', { body: { image: 'hello', name: 'app2' } })
      const answer = await detach([
        { name: 'data', from: { name: 'app2' } },
        { name: 'data', from: { name: 'nobody' } },
      ])
      assert.deepEqual(answer.entries, [
        failed(21, "Volume 'data' is not attached to instance 'app2'"),
        failed(8, "No instance with name 'nobody'"),
      ])
      assert.equal((await view()).state, 'idle')
    })

    it('is refused with a `from` that names nothing', async () => {
      const answer = await detach({ name: 'data', from: {} })
      assert.deepEqual(answer.errors, [
        {
          status: 400,
          error: 13,
          message: "Missing identifier in 'from' of volume detach arguments: give one of 'uuid' and 'name'",
        },
      ])
    })

    it('is refused while the instance has it mounted, asleep with a snapshot too, or is about to', async () => {
      await attached()
      const snapshotUuid = '33333333-3333-4333-8333-333333333333'
      for (const [projection, is] of [
        [{ state: 'starting' }, "is in state 'starting'"],
        [{ state: 'running' }, "is in state 'running'"],
        [{ state: 'stopping' }, "is in state 'stopping'"],
        [{ state: 'standby', snapshotUuid }, "is in state 'standby'"],
        [{ state: 'stopped', restartNextAtMs: Date.now() + 60_000 }, 'is about to start'],
      ] as const) {
        await api.control.record(instance, projection)
        for (const body of [{ name: 'data' }, { name: 'data', from: { name: 'app' } }]) {
          const message = `Volume 'data' is mounted by instance 'app', which ${is}: stop it first`
          assert.deepEqual((await detach(body)).entries, [failed(11, message)])
        }
        assert.equal((await view()).state, 'mounted')
      }
      await api.control.record(instance, { state: 'stopped' })
      assert.deepEqual((await detach({ name: 'data' })).entries, [ok()])
    })

    it('moves a volume to another instance', async () => {
      await attached({ readonly: true })
      await user.api.one('createInstances', { body: { image: 'hello', name: 'app2' } })
      await user.api.one('detachVolumes', { object: 'data' })
      await attached({ attach_to: { name: 'app2' }, at: '/elsewhere' })
      assert.deepEqual(await mounts(), [])
      assert.deepEqual(await mounts('app2'), [
        { uuid: volume, name: 'data', at: '/elsewhere', readonly: false },
      ])
      assert.equal((await view()).readonly, false)
    })

    it('answers each volume by itself', async () => {
      await attached()
      await user.api.one('startInstances', { object: 'app' })
      const other = await user.api.one('createVolumes', { body: { name: 'more', size_mb: 8 } })
      const answer = await detach([{ name: 'data' }, { name: 'more' }, { name: 'none' }])
      assert.deepEqual([answer.httpStatus, answer.status], [200, 'partial_success'])
      assert.deepEqual(answer.entries, [
        failed(11, "Volume 'data' is mounted by instance 'app', which is in state 'running': stop it first"),
        { status: 'success', uuid: other.uuid, name: 'more' },
        { status: 'error', name: 'none', message: "No volume with name 'none'", error: 8 },
      ])
    })
  })

  it('are not deleted while an instance has them, stopped or not', async () => {
    await attached()
    const message = "Volume 'data' is attached to instance 'app': detach it first"
    const remove = async () => (await user.api.attempt('deleteVolumes', { body: { name: 'data' } })).entries
    assert.deepEqual(await remove(), [failed(15, message)])
    await user.api.one('startInstances', { object: 'app' })
    assert.deepEqual(await remove(), [failed(15, message)])
    await user.api.one('deleteInstances', { object: 'app' })
    assertShows(await view(), { state: 'available', attached_to: [] })
    assert.deepEqual(await remove(), [ok()])
  })
})
