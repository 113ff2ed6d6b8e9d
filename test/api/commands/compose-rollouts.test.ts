import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { RowMove } from '../../../src/db/rollout/moves.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeMoves, newestRollout } from '../../support/rollout-moves.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram, Started } from '../../support/roost-program.ts'
import { until } from '../../support/until.ts'

const shop = `
services:
  web:
    image: hello
    restart: "no"
    scale: 2
    environment: { LEVEL: info }
    ports: ['8443:8080']
    labels:
      roost.rollout.canary: 50,100
      roost.rollout.bake: 1m
      roost.rollout.check-path: /health
`
const limitMs = 20_000
const upToDate = 'shop is as the file says\n'

describe('up of services that are rolled out', function () {
  this.timeout(60_000)
  let api: TestApi
  let user: TestUser
  let roost: RoostProgram
  let file: string
  let serviceUuid: string
  before(async () => {
    api = await startTestApi()
    api.nodes.firstBootUs = 20_000
  })
  beforeEach(async () => {
    user = await api.addUser()
    roost = await createRoostProgram({ url: api.url, token: user.token })
    file = path.join(roost.home, 'shop', 'compose.yaml')
    await mkdir(path.dirname(file))
    await writeFile(file, shop)
    await done('up', '-f', file)
    const { uuid } = await user.api.one('getServices', { object: 'web.shop' })
    serviceUuid = uuid
  })
  afterEach(() => roost.remove())
  after(() => api.close())

  async function done(...args: readonly string[]): Promise<string> {
    const ended = await roost.run(args)
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.err}`)
    return ended.out
  }

  const moves = (...all: readonly RowMove[]) => makeMoves(api, serviceUuid, all)
  const change = (from: string, to: string) => writeFile(file, shop.replace(from, to))
  const shown = ({ err }: Started, text: string) => until(text, () => err().includes(text), { limitMs })
  const viewOf = (object: string) => user.api.one('getInstances', { object })

  async function names(): Promise<readonly string[]> {
    return (await user.api.call('getInstances'))
      .map((one) => ('name' in one ? (one.name ?? '') : ''))
      .toSorted()
  }

  it('brings a change to all replicas by one rollout, and what a rollout can not change afterwards', async () => {
    await writeFile(file, shop.replace('info', 'debug').replace('"no"', 'always'))
    const following = roost.start(['up', '-f', file])
    await shown(following, 'web.shop: step 1 of 2: waits until the new version is healthy\n')
    assert.deepEqual(following.err().split('\n').slice(0, 4), [
      'shop:',
      '  ~ service web.shop: env; it is rolled out, and requests go on meanwhile',
      '  ~ instance web.shop: restart_policy',
      '  ~ instance web-2.web.shop: restart_policy',
    ])
    const rollout = await newestRollout(api, serviceUuid)
    assert.partialDeepStrictEqual(rollout?.plan, {
      canary: [50, 100],
      bakeMs: 60_000,
      keepMs: 0,
      check: { path: '/health', port: 8080 },
    })
    await moves({ kind: 'give' }, { kind: 'next-step' }, { kind: 'give' }, { kind: 'finish' })
    await shown(following, 'web.shop: the new version serves, and the old one is being deleted\n')
    assert.equal((await names()).length, 4)
    await moves({ kind: 'forget' })
    const { code, out, err } = await following.ended
    assert.deepEqual([code, out], [0, upToDate], err)
    assert.deepEqual(await names(), ['web-2.web.shop', 'web.shop'])
    for (const name of await names()) {
      const { env, restart_policy: policy, updates, service_group: service } = await viewOf(name)
      assert.deepEqual([env, policy, updates], [{ LEVEL: 'debug' }, 'always', undefined])
      assert.equal(service?.name, 'web.shop')
    }
    assert.equal(await done('up', '-f', file), upToDate)
  })

  it('fails with the reason if the new version goes back, and says what is left', async () => {
    const [withoutLabels = ''] = shop.split('    labels:')
    await writeFile(file, withoutLabels.replace('info', 'debug').replace('"no"', 'always'))
    const following = roost.start(['up', '-f', file])
    await shown(following, 'waits until')
    const rollout = await newestRollout(api, serviceUuid)
    assert.partialDeepStrictEqual(rollout?.plan, { canary: [100], bakeMs: 5_000, keepMs: 0 })
    assert.deepEqual(Object.keys(rollout?.plan.check ?? {}).includes('path'), false)
    await moves({ kind: 'go-back', reason: 'web.shop-abc was not healthy' }, { kind: 'turn-back' })
    const { code, out, err } = await following.ended
    assert.deepEqual([code, out], [1, ''], err)
    const lines = err.trimEnd().split('\n')
    assert.deepEqual(lines.slice(lines.indexOf('0 of 3 steps are done. Not done:')), [
      '0 of 3 steps are done. Not done:',
      '  ~ service web.shop: env; it is rolled out, and requests go on meanwhile',
      '  ~ instance web.shop: restart_policy',
      '  ~ instance web-2.web.shop: restart_policy',
      'roost: web.shop: the old version serves again: web.shop-abc was not healthy',
    ])
    const { env, restart_policy: policy } = await viewOf('web.shop')
    assert.deepEqual([env, policy], [{ LEVEL: 'info' }, 'never'])
  })

  it('ends with its time, and leaves the rollout to go on', async () => {
    await change('info', 'debug')
    const { code, err } = await roost.run(['up', '-f', file, '--timeout', '2'])
    assert.equal(code, 6, err)
    assert.match(
      err,
      /--timeout is over, but the rollout of web\.shop goes on: `roost rollouts web\.shop` shows/,
    )
    const rollout = await newestRollout(api, serviceUuid)
    assert.deepEqual([rollout?.phase, rollout?.recalledBy], ['preparing', null])
  })

  it('leaves a rollout that somebody else began alone, and says what to do', async () => {
    await done('deploy', 'web.shop', '-m', '256M', '--detach')
    const { code, out, err } = await roost.run(['up', '-f', file])
    assert.deepEqual([code, out], [1, ''])
    assert.match(
      err,
      /compose\.yaml:4: a rollout of the service web\.shop is under way: wait until it is over/,
    )
    assert.match(err, /`roost rollouts web\.shop`\), or go back \(`roost rollback web\.shop`\)/)
    assert.equal((await newestRollout(api, serviceUuid))?.phase, 'preparing')
  })

  it('takes no instance that a rollout keeps for one of the project, and down deletes it', async () => {
    await done('deploy', 'web.shop', '--detach')
    await moves({ kind: 'give' }, { kind: 'finish' })
    assert.equal((await names()).length, 4)
    const kept = (await names()).filter((name) => !['web.shop', 'web-2.web.shop'].includes(name))
    for (const name of kept) assert.equal((await viewOf(name)).rollout?.is_new, false)
    assert.equal(await done('up', '-f', file, '--remove-orphans'), upToDate)
    assert.equal((await names()).length, 4)
    await done('down', '-f', file)
    assert.deepEqual(await names(), [])
  })

  it('ends with its project while a rollout is under way', async () => {
    await done('deploy', 'web.shop', '--detach')
    await moves({ kind: 'give' })
    assert.equal((await names()).length, 4)
    await done('down', '-f', file)
    assert.deepEqual(await names(), [])
    assert.deepEqual(await user.api.call('getServices'), [])
  })

  it('deletes what a rollout keeps with its service, if the file has that no more', async () => {
    await done('deploy', 'web.shop', '--detach')
    await moves({ kind: 'give' }, { kind: 'finish' })
    await writeFile(file, shop.replace('  web:', '  page:').replace('8443', '9443'))
    assert.match(await done('up', '-f', file, '--dry-run'), /kept: web\.shop, web-2\.web\.shop; --remove/)
    await done('up', '-f', file, '--remove-orphans')
    assert.deepEqual(await names(), ['page-2.page.shop', 'page.shop'])
  })

  it('changes an instance that is stopped in place, and starts it', async () => {
    await done('stop', 'web-2.web.shop')
    await until('it is stopped', async () => (await viewOf('web-2.web.shop')).state === 'stopped', {
      limitMs,
    })
    await change('info', 'debug')
    assert.deepEqual((await done('up', '-f', file, '--dry-run')).trimEnd().split('\n'), [
      'shop:',
      '  ~ service web.shop: env; it is rolled out, and requests go on meanwhile',
      '  ~ instance web-2.web.shop: env; it is started',
    ])
  })

  it('changes in place what moves to another port, which no two versions can have at once', async () => {
    await writeFile(file, shop.replace('info', 'debug').replace("'8443:8080'", "'8443:9090'"))
    const lines = (await done('up', '-f', file, '--dry-run')).trimEnd().split('\n')
    assert.deepEqual(lines.slice(1), [
      '  ~ service web.shop: 8443:9090',
      '  ~ instance web.shop: env; it is restarted, and requests wait meanwhile',
      '  ~ instance web-2.web.shop: env; it is restarted, and requests wait meanwhile',
    ])
  })
})
