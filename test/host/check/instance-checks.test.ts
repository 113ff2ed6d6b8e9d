import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { maxHostChecks } from '../../../src/domain/rollout/check.ts'
import type { CheckResult, InstanceCheck } from '../../../src/domain/rollout/check.ts'
import { InstanceChecks } from '../../../src/host/check/instance-checks.ts'
import { otherUuid, uuid } from '../agent/machine.ts'
import { pass } from '../leases/gateway.ts'
import { boot, cold, forced, StandbyScene } from '../leases/standby-scene.ts'
import { until } from '../../support/until.ts'

const never = new AbortController().signal
const check: InstanceCheck = { port: 8080, path: '/', timeoutMs: 5_000 }

describe('the checks of a host', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  let application: Server
  /** The answers that the application has not given yet. */
  const waiting: ServerResponse[] = []
  let isSlow: boolean
  const reached: unknown[] = []

  beforeEach(async () => {
    isSlow = false
    reached.length = 0
    scene = await StandbyScene.make()
    application = createServer((_, response) => {
      if (isSlow) waiting.push(response)
      else response.end()
    })
    application.listen(0, '127.0.0.1')
    await once(application, 'listening')
    const { port } = application.address() as AddressInfo
    scene.machine.network.reach = async (nic, wanted) => {
      reached.push([nic.instanceUuid, wanted])
      return await Promise.resolve({ host: '127.0.0.1', port })
    }
  })
  afterEach(async () => {
    application.closeAllConnections()
    application.close()
    waiting.length = 0
    await scene.remove()
  })

  /** What runs began long ago, or just now. */
  function checks({ isFresh = false } = {}) {
    const { agent } = scene.live
    const nowMs = () => (isFresh ? 0 : Date.now() + check.timeoutMs)
    const made = new InstanceChecks({ leases: agent.leases, entries: agent.entries, nowMs })
    return async (more: Partial<InstanceCheck> = {}, instance = uuid, gone = never) =>
      await made.check(instance, { ...check, ...more }, gone)
  }

  it('wake a sleeper, and let it sleep again afterwards', async () => {
    await scene.asleep(cold)
    assert.deepEqual(await checks()(), { ok: true })
    assert.equal(scene.hostLease.boot, 2)
    assert.deepEqual(reached, [[uuid, 8080]])
    pass(scene.machine, scene.live, 2_000)
    assert.equal((await scene.standBy()).slept, true)
  })

  const listensNoMore = async (): Promise<number> => {
    const { port } = application.address() as AddressInfo
    application.close()
    await once(application, 'close')
    return port
  }

  it('give what began just now time to listen', async () => {
    await scene.running(cold)
    const port = await listensNoMore()
    assert.deepEqual(await checks()(), { ok: false, why: 'nothing listens on port 8080' })
    const checking = checks({ isFresh: true })()
    await until('it is asked', () => reached.length === 2, { limitMs: 5_000 })
    application.listen(port, '127.0.0.1')
    assert.deepEqual(await checking, { ok: true })
  })

  it('give a sleeper that woke time to listen, and nobody else', async () => {
    await scene.asleep(cold)
    const port = await listensNoMore()
    const asked = checks()
    const checking = asked()
    await until('it is awake', () => scene.hostLease.phase === 'running', { limitMs: 5_000 })
    assert.deepEqual(await asked(), { ok: false, why: 'nothing listens on port 8080' })
    application.listen(port, '127.0.0.1')
    assert.deepEqual(await checking, { ok: true })
  })

  it('keep the instance awake while they last', async () => {
    await scene.running(cold)
    isSlow = true
    const checking = checks()()
    await until('it is asked', () => waiting.length === 1, { limitMs: 5_000 })
    pass(scene.machine, scene.live, 3_600_000)
    assert.deepEqual(await scene.standBy(), { slept: false, reason: 'busy' })
    assert.equal(scene.live.agent.leases.hostLease(uuid)?.programs, undefined)
    waiting[0]?.end()
    assert.deepEqual(await checking, { ok: true })
  })

  it('say of an instance that is not up why it is not', async () => {
    await scene.running(cold)
    const asked = checks()
    const why = 'the host does not know the instance'
    assert.deepEqual(await asked({}, otherUuid), { ok: false, why })
    await scene.live.agent.stop({ ...boot, ...forced })
    assert.deepEqual(await asked(), { ok: false, why: 'the instance does not run' })
  })

  it('wait for an instance that comes up, and no longer than they may', async () => {
    await scene.asleep(cold)
    scene.live.ports.vmm.start = async () => await new Promise(() => undefined)
    assert.deepEqual(await checks()({ timeoutMs: 300 }), {
      ok: false,
      why: 'the instance did not come up within 300 ms',
    })
  })

  it('end with the boot of the instance, whose address may then be another one’s', async () => {
    await scene.running(cold)
    isSlow = true
    const checking = checks()()
    await until('it is asked', () => waiting.length === 1, { limitMs: 5_000 })
    await scene.live.agent.stop({ ...boot, ...forced })
    assert.deepEqual(await checking, { ok: false, why: 'the instance ended during the check' })
  })

  it('say that the host can not reach a port', async () => {
    await scene.running(cold)
    scene.machine.network.reach = async () => await Promise.resolve(undefined)
    assert.deepEqual(await checks()({ port: 9999 }), {
      ok: false,
      why: 'the host can not reach port 9999 of the instance: its agent is not root',
    })
  })

  it('are bounded, and make room when they end or nobody waits for them', async () => {
    await scene.running(cold)
    isSlow = true
    const asked = checks()
    const gone = new AbortController()
    const first = asked({}, uuid, gone.signal)
    const others: Promise<CheckResult | undefined>[] = []
    for (let made = 1; made < maxHostChecks; made++) others.push(asked())
    assert.equal(await asked(), undefined)
    gone.abort(new Error('nobody waits'))
    await assert.rejects(first, /nobody waits/)
    others.push(asked())
    await until('all are asked', () => waiting.length >= maxHostChecks, { limitMs: 10_000 })
    for (const response of waiting) response.end()
    for (const each of await Promise.all(others)) assert.deepEqual(each, { ok: true })
    assert.equal(
      scene.hostLease.leases.some(({ status }) => status === 'held'),
      false,
    )
  })
})
