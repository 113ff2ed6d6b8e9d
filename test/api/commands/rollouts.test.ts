import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RowMove } from '../../../src/db/rollout/moves.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram, Started } from '../../support/roost-program.ts'
import { makeMoves, newestRollout } from '../../support/rollout-moves.ts'
import { until } from '../../support/until.ts'

const limitMs = 20_000

describe('the commands about rollouts', function () {
  this.timeout(60_000)
  let api: TestApi
  let user: TestUser
  let roost: RoostProgram
  let service: { readonly uuid: string }
  before(async () => {
    api = await startTestApi()
  })
  beforeEach(async () => {
    user = await api.addUser()
    roost = await createRoostProgram({ url: api.url, token: user.token })
    const body = { name: 'web', services: [{ port: 443, destination_port: 8080 }] }
    service = await user.api.one('createServices', { body })
    await user.api.one('createInstances', {
      body: {
        name: 'one',
        image: 'hello',
        env: { OLD: '1' },
        autostart: true,
        service_group: { name: 'web' },
      },
    })
  })
  afterEach(() => roost.remove())
  after(() => api.close())

  const newest = () => newestRollout(api, service.uuid)
  const moves = (...all: readonly RowMove[]) => makeMoves(api, service.uuid, all)

  /** Waits for a text that the command shows as it goes. */
  async function shown({ err }: Started, text: string): Promise<void> {
    await until(text, () => err().includes(text), { limitMs })
  }

  async function done(...args: readonly string[]): Promise<string> {
    const ended = await roost.run(args)
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.err}`)
    return ended.out
  }

  it('say in full what a new version is and how it is brought in', async () => {
    const version = ['--image', 'hello', '-m', '256M', '-e', 'A=1', '--unset', 'OLD']
    const plan = ['--canary', '5,50,100', '--bake', '1m', '--max-errors', '2.5%', '--max-latency', '500ms']
    const check = ['--check-path', '/health', '--check-port', '9000', '--check-status', '204']
    const paces = [
      '--check-times',
      '3',
      '--check-limit',
      '1m',
      '--check-interval',
      '2s',
      '--check-timeout',
      '900ms',
    ]
    const rest = ['--keep', '2h', '--detach', '--', '--verbose']
    const said = await done('deploy', 'web', ...version, ...plan, ...check, ...paces, ...rest)
    assert.match(
      said,
      /^web: step 1 of 3: waits until the new version is healthy; `roost rollouts web` shows/,
    )
    const rollout = await newest()
    assert.partialDeepStrictEqual(rollout?.plan, {
      canary: [5, 50, 100],
      bakeMs: 60_000,
      maxErrorPercent: 2.5,
      maxLatencyMs: 500,
      keepMs: 7_200_000,
      check: {
        port: 9000,
        path: '/health',
        status: 204,
        times: 3,
        limitMs: 60_000,
        intervalMs: 2_000,
        timeoutMs: 900,
      },
    })
    const { instances = [] } = await user.api.one('getServices', { object: 'web' })
    const seen = await Promise.all(
      instances.map(async ({ uuid }) => await user.api.one('getInstances', { object: uuid })),
    )
    const made = seen.find(({ memory_mb: memory }) => memory === 256)
    assert.deepEqual([made?.args, made?.env], [['--verbose'], { A: '1' }])
  })

  it('follow a deployment step by step until the new version serves', async () => {
    const following = roost.start(['deploy', 'web', '--canary', '10,100', '--bake', '5s'])
    await shown(following, 'web: step 1 of 2: waits until the new version is healthy\n')
    await moves({ kind: 'give' })
    await shown(following, 'step 1 of 2: the new version gets 10 % of the traffic, and is watched for 5 s\n')
    await moves({ kind: 'next-step' })
    await shown(following, 'step 2 of 2: waits until the new version is healthy\n')
    await moves({ kind: 'give' }, { kind: 'finish' })
    const { code, out, err } = await following.ended
    assert.deepEqual([code, out.trimEnd()], [0, out.split('\n')[0]], err)
    assert.match(
      out,
      /^web: the new version serves; the old one is kept until \S+Z, and `roost rollback web` goes/,
    )
  })

  it('fail with the reason where a deployment goes back', async () => {
    const following = roost.start(['deploy', 'web', '-o', 'json'])
    await until('it has begun', async () => (await newest()) !== undefined, { limitMs })
    await moves({ kind: 'go-back', reason: 'one-abc was not healthy' }, { kind: 'turn-back' })
    const { code, out, err } = await following.ended
    assert.deepEqual([code, out], [1, ''])
    assert.equal(err, 'roost: web: the old version serves again: one-abc was not healthy\n')
  })

  it('leave the rollout alone at Ctrl-C, and say how to go back', async () => {
    const following = roost.start(['deploy', 'web'])
    await shown(following, 'waits until')
    following.child.kill('SIGINT')
    const { code, err } = await following.ended
    assert.equal(code, 1)
    assert.match(
      err,
      /roost: the rollout of web goes on: `roost rollouts web` .* `roost rollback web` goes back\n$/,
    )
    assert.equal((await newest())?.phase, 'preparing')
    assert.equal((await newest())?.recalledBy, null)
  })

  it('go back to a version that is kept, and wait until it serves', async () => {
    await done('deploy', 'web', '--detach')
    await moves({ kind: 'give' }, { kind: 'finish' })
    const following = roost.start(['rollback', 'web'])
    await shown(following, 'web is asked to go back\n')
    assert.notEqual((await newest())?.recalledBy, null)
    await moves({ kind: 'go-back', reason: 'going back was asked for' })
    await shown(following, 'web: goes back to the old version: going back was asked for\n')
    await moves({ kind: 'turn-back' })
    const { code, out } = await following.ended
    assert.deepEqual([code, out], [0, 'web: the old version serves again: going back was asked for\n'])
  })

  it('wait for the old version though the new one got its place in the same moment', async () => {
    await done('deploy', 'web', '--detach')
    await moves({ kind: 'give' })
    const following = roost.start(['rollback', 'web'])
    await shown(following, 'web is asked to go back\n')
    await moves({ kind: 'finish' })
    await shown(following, 'the new version serves; the old one is kept')
    await moves({ kind: 'go-back', reason: 'going back was asked for' }, { kind: 'turn-back' })
    assert.equal((await following.ended).code, 0)
  })

  it('say where going back did not succeed, and where there is nothing to go back to', async () => {
    const nothing = await roost.run(['rollback', 'web'])
    assert.deepEqual([nothing.code, nothing.out], [1, ''])
    assert.match(nothing.err, /'web' has no old version to go back to/)
    await done('deploy', 'web', '--detach')
    await moves({ kind: 'give' }, { kind: 'finish' })
    const following = roost.start(['rollback', 'web'])
    await shown(following, 'is asked to go back')
    await moves({ kind: 'go-back', reason: 'going back was asked for' })
    await moves({ kind: 'stay', reason: 'one of the old version did not come up' })
    const { code, err } = await following.ended
    assert.equal(code, 1)
    assert.match(
      err,
      /\nroost: web: the new version serves, because it could not go back: one of the old version/,
    )
  })

  it('mark the instances that are brought in, and those that are kept', async () => {
    const marks = async () => {
      const views = await user.api.call('getInstances')
      return views.flatMap((one) => ('rollout' in one ? [[one.rollout?.is_new, one.rollout?.uuid]] : []))
    }
    assert.deepEqual(await marks(), [])
    await done('deploy', 'web', '--detach')
    const uuid = (await newest())?.uuid
    assert.deepEqual(await marks(), [[true, uuid]])
    await moves({ kind: 'give' }, { kind: 'finish' })
    assert.deepEqual(await marks(), [[false, uuid]])
    const one = await user.api.one('getInstances', { object: 'one' })
    assert.equal(one.rollout, undefined)
  })

  it('list the last rollouts, and end one under way for a new one', async () => {
    await done('deploy', 'web', '-e', 'A=1', '--detach')
    const refused = await roost.run(['deploy', 'web', '--detach'])
    assert.deepEqual([refused.code, refused.out], [1, ''])
    assert.match(refused.err, /is under way \(preparing\): .* or give 'supersede'/)
    await done('deploy', 'web', '-e', 'A=2', '--canary', '20,100', '--supersede', '--detach')
    await moves({ kind: 'give' })
    const [title, second, first] = (await done('rollouts', 'web')).split('\n')
    assert.match(title ?? '', /^BEGUN +PHASE +STEP +TRAFFIC +CHANGES +ENDED +WHY$/)
    assert.match(second ?? '', /^\S+Z +baking +1\/2 +20 % +\S.* - +-$/)
    assert.match(first ?? '', /^\S+Z +returned +1\/1 +- +\S.* \S+Z +\S/)
    const listed = JSON.parse(await done('rollouts', 'web', '--limit', '1', '-o', 'json')) as unknown[]
    assert.equal(listed.length, 1)
  })

  it('go on when the API was away for a moment', async () => {
    let refusals = 0
    let isAway = false
    const front = createServer((asked, answer) => {
      if (isAway) {
        refusals += 1
        answer.writeHead(503).end()
        return
      }
      const { method, url, headers } = asked
      const passed = httpRequest(new URL(url ?? '', api.url), { method, headers }, (got) => {
        answer.writeHead(got.statusCode ?? 0, got.headers)
        got.pipe(answer)
      })
      asked.pipe(passed)
    })
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
    const { port } = front.address() as AddressInfo
    const env = { ROOST_ADDRESS: `http://127.0.0.1:${port}` }
    const following = roost.start(['deploy', 'web'], { env })
    await shown(following, 'waits until')
    isAway = true
    await until('it was refused twice', () => refusals >= 2, { limitMs })
    isAway = false
    await moves({ kind: 'give' }, { kind: 'finish' })
    assert.equal((await following.ended).code, 0)
    front.close()
    front.closeAllConnections()
  })

  it('say what is wrong with an option', async () => {
    for (const [args, message] of [
      [
        ['--canary', '5,x'],
        /'5,x' is no value for --canary: expected percents from 1 to 100, such as 5,50,100/,
      ],
      [['--canary', '0,100'], /no value for --canary/],
      [['--bake', '30'], /'30' is no value for --bake: expected a time such as 500ms, 30s/],
      [['--keep', '1500ms'], /'1500ms' is no value for --keep: expected whole seconds/],
      [['--max-errors', '101%'], /'101%' is no value for --max-errors: expected a share from 0% to 100%/],
      [['--check-status', '200'], /--check-status is for a check by HTTP: give --check-path, too/],
      [['--check-port', '70000'], /expected a whole number from 1 to 65535/],
      [['--check-times', '101'], /expected a whole number from 1 to 100/],
    ] as const) {
      const ended = await roost.run(['deploy', 'web', ...args])
      assert.equal(ended.code, 2, ended.err)
      assert.match(ended.err, message)
    }
    assert.equal(await newest(), undefined)
    const notGrowing = await roost.run(['deploy', 'web', '--canary', '50,10,100'])
    assert.match(notGrowing.err, /'canary' .* must grow and end with 100/)
  })
})
