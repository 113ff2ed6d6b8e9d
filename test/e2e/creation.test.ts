import assert from 'node:assert/strict'
import { isUnknown, runInstance, viewOf, waitFor } from '../support/instances.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const quotaCode = 19

describe('creating instances', () => {
  let stack: Stack
  before(async () => {
    stack = await sharedStack()
  })

  it('makes replicas that are named after the first, and starts them all', async () => {
    const created = await stack.api.call('createInstances', {
      body: { name: 'many', image: 'busybox', replicas: 2, autostart: true, wait_timeout_ms: 90_000 },
    })
    assert.equal(created.length, 3)
    assert.equal(created[0]?.name, 'many')
    for (const { name } of created.slice(1)) assert.match(name, /^many-[a-z0-9]{5}$/)
    assert.deepEqual(
      created.map(({ state }) => state),
      ['running', 'running', 'running'],
    )
    assert.equal(new Set(created.map(({ private_ip }) => private_ip)).size, 3)
    await stack.api.call('deleteInstances', { body: created.map(({ uuid }) => ({ uuid })) })
  })

  it('stops at the quota and leaves nothing behind', async () => {
    const answer = await stack.api.attempt('createInstances', {
      body: { name: 'too-many', image: 'busybox', replicas: 70 },
    })
    const [entry] = answer.entries
    assert.ok(entry !== undefined && 'error' in entry, JSON.stringify(answer))
    assert.equal(entry.error, quotaCode)
    const all = await stack.api.call('listInstances')
    assert.deepEqual(
      all.filter(({ name }) => name.startsWith('too-many')),
      [],
    )
  })

  it('counts running instances against the quotas, and stopped ones no longer', async () => {
    const [before] = await stack.api.call('getQuotas')
    const { uuid } = await runInstance(stack.api, { name: 'counted', image: 'busybox', memory_mb: 160 })
    const [during] = await stack.api.call('getQuotas')
    assert.ok(before && during)
    assert.equal(during.used.instances, before.used.instances + 1)
    assert.equal(during.used.live_memory_mb, before.used.live_memory_mb + 160)
    await stack.api.one('stopInstances', { object: uuid, body: { force: true } })
    await waitFor(stack.api, uuid, 'stopped')
    const [stopped] = await stack.api.call('getQuotas')
    assert.equal(stopped?.used.live_memory_mb, before.used.live_memory_mb)
    await stack.api.one('deleteInstances', { object: uuid })
    const [deleted] = await stack.api.call('getQuotas')
    assert.equal(deleted?.used.instances, before.used.instances)
  })

  it('gives the application its arguments and environment byte for byte', async () => {
    const value = 'a "b" \'c\' $d `e` \\ \n ü'
    const { uuid } = await stack.api.one('createInstances', {
      body: {
        name: 'exact',
        image: 'busybox',
        args: ['sh', '-c', 'printf "%s|%s|" "$1" "$ODD"', 'sh', value],
        env: { ODD: value },
        autostart: true,
      },
    })
    await waitFor(stack.api, uuid, 'stopped')
    const log = await stack.api.one('getInstanceLogs', { object: uuid })
    assert.ok(
      Buffer.from(log.output, 'base64').toString('utf8').replaceAll('\r', '').includes(`${value}|${value}|`),
    )
    await stack.api.one('deleteInstances', { object: uuid })
  })

  it('runs an instance that asks for less memory than a kernel needs', async () => {
    const view = await runInstance(stack.api, { name: 'small', image: 'hello', memory_mb: 57 })
    assert.equal(view.memory_mb, 57)
    assert.equal(view.state, 'running')
    await stack.api.one('deleteInstances', { object: view.uuid })
  })

  it('without autostart leaves it stopped and never started', async () => {
    const { uuid, state } = await stack.api.one('createInstances', { body: { name: 'idle', image: 'hello' } })
    assert.equal(state, 'stopped')
    const view = await viewOf(stack.api, uuid)
    assert.equal(view.start_count, 0)
    await stack.api.one('deleteInstances', { object: uuid })
  })

  it('with `delete-on-stop` removes it when it stops', async () => {
    const { uuid } = await runInstance(stack.api, {
      name: 'ephemeral',
      image: 'busybox',
      args: ['sleep', '2'],
      features: ['delete-on-stop'],
    })
    await until('it is gone', () => isUnknown(stack.api, uuid), { limitMs: 30_000 })
  })
})

describe('waiting', () => {
  let stack: Stack
  let uuids: readonly string[]
  before(async () => {
    stack = await sharedStack()
    const body = { image: 'busybox', args: ['sleep', '3'], autostart: true }
    const created = await Promise.all(
      ['wait-a', 'wait-b'].map((name) => stack.api.one('createInstances', { body: { ...body, name } })),
    )
    uuids = created.map(({ uuid }) => uuid)
  })
  after(() => stack.api.call('deleteInstances', { body: uuids.map((uuid) => ({ uuid })) }))

  it('for several by `ids` with one timeout ends when all have their state', async () => {
    const ids = uuids.map((uuid) => ({ uuid, state: 'stopped' }))
    const entries = await stack.api.call('waitInstances', { body: { ids, timeout_ms: 60_000 } })
    assert.deepEqual(
      entries.map(({ state }) => state),
      ['stopped', 'stopped'],
    )
  })

  it('by an array in which each has its own timeout ends at once where all have their state', async () => {
    const body = uuids.map((uuid) => ({ uuid, state: 'stopped', timeout_ms: 1_000 }))
    const entries = await stack.api.call('waitInstances', { body })
    assert.equal(entries.length, 2)
  })

  it('ends with its timeout where the state is not reached', async () => {
    const startedMs = performance.now()
    const answer = await stack.api.attempt('waitInstances', {
      object: uuids[0],
      body: { state: 'running', timeout_ms: 500 },
    })
    assert.notEqual(answer.status, 'success')
    const tookMs = performance.now() - startedMs
    assert.ok(tookMs >= 490 && tookMs < 3_000, `took ${tookMs} ms`)
  })
})
