import { strict as assert } from 'node:assert'
import { openEnv } from '../../../src/db/instance/row.ts'
import { findByUuids } from '../../../src/db/instance/instances.ts'
import { createToken } from '../../../src/db/account/tokens.ts'
import { makeMove } from '../../../src/db/rollout/moves.ts'
import type { RowMove } from '../../../src/db/rollout/moves.ts'
import { findUnstartedRollouts, listRollouts } from '../../../src/db/rollout/records.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { createApiClient } from '../../support/api-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'

const secret = 'value-that-is-secret'
const give: RowMove = { kind: 'give' }
const finish: RowMove = { kind: 'finish' }

describe('rollouts', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    delete api.rolloutControl.faults.isAway
    api.rolloutControl.calls.length = 0
    api.rolloutControl.started.length = 0
    user = await api.addUser()
  })

  /** A service with one running instance, both of the same name. */
  async function published(name = 'web', more: object = {}, owner = user): Promise<string> {
    const { uuid } = await owner.api.one('createServices', {
      body: { name, services: [{ port: 443, destination_port: 8080 }] },
    })
    await owner.api.one('createInstances', {
      body: { name, image: 'hello', env: { OLD: '1' }, autostart: true, service_group: { name }, ...more },
    })
    return uuid
  }
  const begin = (body: object = {}, object = 'web') => user.api.one('createRollouts', { object, body })
  const newest = async (uuid: string) => (await listRollouts(api.database, uuid, 1))[0]!
  /** Does what the rollout's workflow would do. */
  const moves = async (uuid: string, ...all: readonly RowMove[]) => {
    for (const move of all)
      await makeMove({ database: api.database, secretBox: testSecretBox }, await newest(uuid), move)
  }
  const messagesOf = ({ entries }: { readonly entries: readonly object[] }) =>
    entries.flatMap((entry) => ('message' in entry ? [String(entry.message)] : []))
  const refusal = async (body: object = {}, object = 'web') =>
    messagesOf(await user.api.attempt('createRollouts', { object, body }))[0] ?? ''
  const rollbackRefusal = async (object = 'web') =>
    messagesOf(await user.api.attempt('rollBackServices', { object }))[0] ?? ''

  it('begin with all defaults, and their workflow is started', async () => {
    const uuid = await published()
    const { rollout, ...entry } = await begin({ env: { OLD: '2' } })
    assert.deepEqual(entry, { status: 'success', uuid, name: 'web' })
    const { created_at, since, new_instances, ...seen } = rollout
    assert.match(created_at ?? '', /Z$/)
    assert.match(since ?? '', /Z$/)
    assert.match(new_instances?.[0]?.name ?? '', /^web-[a-z0-9]{5}$/)
    assert.deepEqual(seen, {
      uuid: rollout.uuid,
      phase: 'preparing',
      percent: 0,
      step: 1,
      changes: rollout.changes,
      canary: [100],
      bake_s: 30,
      check: { port: 8080, times: 1, interval_ms: 1000, timeout_ms: 2000, limit_s: 120 },
      max_error_percent: 5,
      keep_s: 3600,
      old_instances: [],
    })
    assert.deepEqual(api.rolloutControl.started, [
      { rolloutUuid: rollout.uuid, serviceName: 'web', userUuid: user.uuid },
    ])
    const unstarted = await findUnstartedRollouts(api.database, { olderThanMs: -60_000, limit: 100 })
    assert.ok(!unstarted.some(({ rolloutUuid }) => rolloutUuid === rollout.uuid), 'it is known to run')
  })

  it('take all that is asked for', async () => {
    await published()
    const plan = {
      canary: [10, 50, 100],
      bake_s: 7,
      check: {
        port: 9000,
        path: '/health',
        status: 204,
        times: 3,
        interval_ms: 500,
        timeout_ms: 700,
        limit_s: 9,
      },
      max_error_percent: 2.5,
      max_latency_ms: 400,
      keep_s: 0,
    }
    const { rollout } = await begin({ ...plan, memory_mb: 256, args: ['--new'], clear: ['env'] })
    assert.partialDeepStrictEqual(rollout, plan)
    const [next] = await findByUuids(api.database, [rollout.new_instances![0]!.uuid])
    assert.deepEqual([next!.memoryMb, next!.args, openEnv(testSecretBox, next!)], [256, ['--new'], {}])
  })

  it('begin by body and by array, each with its own change, and answer in the order of the request', async () => {
    const uuid = await published('web')
    await published('api')
    const { rollout } = await user.api.one('createRollouts', { body: { uuid, env: { A: '1' } } })
    assert.equal(rollout.phase, 'preparing')
    await published('db')
    const answer = await user.api.attempt('createRollouts', {
      body: [
        { name: 'db', id: 'first', env: { B: '1' } },
        { name: 'nothing' },
        { name: 'web', supersede: true, env: { C: '1' } },
        { name: 'api', bake_s: 1 },
      ],
    })
    assert.equal(answer.status, 'partial_success')
    assert.deepEqual(
      answer.entries.map((entry) => [entry.name, entry.status, 'id' in entry ? entry.id : undefined]),
      [
        ['db', 'success', 'first'],
        ['nothing', 'error', undefined],
        ['web', 'success', undefined],
        ['api', 'success', undefined],
      ],
    )
    assert.equal(api.rolloutControl.started.length, 4)
  })

  for (const [body, message] of [
    [
      { canary: [50, 20, 100] },
      /'canary' in rollout arguments: .* must grow and end with 100, and 50, 20, 100 do/,
    ],
    [{ canary: [10, 50] }, /must grow and end with 100, and 10, 50 do not$/],
    [{ canary: [] }, /Value of 'canary' is too short: at least 1/],
    [{ canary: [0, 100] }, /'canary.*must be in the range 1 to 100/],
    [
      { canary: Array.from({ length: 17 }, (_, index) => index + 84) },
      /too many elements: 17, but at most 16/,
    ],
    [{ bake_s: -1 }, /Value of 'bake_s' must be in the range 0 to 86400/],
    [{ bake_s: 1.5 }, /'bake_s' in rollout arguments has type 'number', but expected 'integer'/],
    [{ keep_s: 2_592_001 }, /Value of 'keep_s' must be in the range 0 to 2592000/],
    [{ max_error_percent: 101 }, /Value of 'max_error_percent' must be in the range 0 to 100/],
    [{ max_latency_ms: 0 }, /Value of 'max_latency_ms' must be in the range 1 to 60000/],
    [{ check: { port: 0 } }, /'port' in check description must be in the range 1 to 65535/],
    [
      { check: { path: 'health' } },
      /'path' in check description: it must be '\/' and up to 255 more .*, but is 'health'$/,
    ],
    [{ check: { path: '/a#b' } }, /without '#', but is '\/a#b'$/],
    [{ check: { path: `/${'a'.repeat(256)}` } }, /'path' in check description is too long/],
    [{ check: { path: '/', status: 199 } }, /'status' in check description must be in the range 200 to 599/],
    [{ check: { status: 200 } }, /'status' in check description .*'path'/],
    [{ check: { times: 101 } }, /'times' in check description must be in the range 1 to 100/],
    [{ check: { interval_ms: 99 } }, /'interval_ms' in check description must be in the range 100 to 60000/],
    [
      { check: { timeout_ms: 30_001 } },
      /'timeout_ms' in check description must be in the range 100 to 30000/,
    ],
    [{ check: { limit_s: 3_601 } }, /'limit_s' in check description must be in the range 1 to 3600/],
    [{ check: { retries: 3 } }, /Unknown parameter 'check.retries'/],
    [{ clear: ['image'] }, /'image' is not a valid flag for 'clear'; valid: args, env/],
    [{ clear: ['env'], env: { A: '1' } }, /cannot be given together/],
    [{ replicas: 2 }, /Unknown parameter 'replicas' in rollout arguments/],
    [{ image: 'no:such:image' }, /Invalid image/],
  ] as const) {
    it(`are refused if they are ${JSON.stringify(body).slice(0, 90)}`, async () => {
      const sent = { name: 'web', ...body }
      const answer = await api.send({
        method: 'POST',
        path: '/v1/services/rollouts',
        token: user.token,
        body: sent,
      })
      assert.equal(answer.status, 400, answer.text)
      assert.match((answer.json as { readonly message: string }).message, message)
    })
  }

  it('say what is wrong with all objects at once, and begin none of them', async () => {
    const uuid = await published()
    const body = [{ name: 'web' }, { name: 'api', canary: [10] }]
    const answer = await user.api.attempt('createRollouts', { body })
    assert.equal(answer.httpStatus, 400)
    assert.deepEqual(await listRollouts(api.database, uuid, 5), [])
  })

  it('are refused for what the service is like, and say what to do', async () => {
    const uuid = await published()
    assert.match(await refusal({ image: 'nothing' }), /^No image 'nothing'/)
    await begin()
    assert.equal(
      await refusal(),
      "A rollout of service group 'web' is under way (preparing): wait until it is over, go back, or give 'supersede'",
    )
    await moves(uuid, { kind: 'go-back', reason: 'it is bad' })
    assert.equal(
      await refusal({ supersede: true }),
      "The rollout of service group 'web' that is under way (returning) can not be superseded now: it goes back already",
    )
    await user.api.one('createServices', { body: { name: 'bare', services: [{ port: 443 }] } })
    assert.equal(
      await refusal({}, 'bare'),
      "Service group 'bare' has no instance that is not stopped: start one, or change its instances by PATCH /v1/instances",
    )
    await user.api.one('createServices', { body: { name: 'silent' } })
    await user.api.one('createInstances', {
      body: { name: 'silent', image: 'hello', autostart: true, service_group: { name: 'silent' } },
    })
    assert.equal(
      await refusal({}, 'silent'),
      "Service group 'silent' publishes no port, so a check has nothing to ask: give 'check' with a 'port'",
    )
    await published('keeping', { volumes: [{ size_mb: 16, at: '/data' }] })
    assert.equal(
      await refusal({ canary: [10, 100] }, 'keeping'),
      "Instance 'keeping' of service group 'keeping' has a volume, which only one version can have at a time: leave out 'canary'",
    )
  })

  it('are refused beyond a quota or a limit, with the amounts', async () => {
    await published()
    assert.match(await refusal({ memory_mb: 1 }), /'memory_mb'.* must be in the range/)
    const small = await api.addUser({ hard: { liveInstances: 1 } })
    await published('web', {}, small)
    const answer = await small.api.attempt('createRollouts', { object: 'web', body: {} })
    assert.match(
      messagesOf(answer)[0] ?? '',
      /^Quota 'live_instances' exceeded: 2 with this request, 1 allowed/,
    )
  })

  it('are listed with the newest first, as many as are asked for', async () => {
    const uuid = await published()
    const made: string[] = []
    for (const version of ['1', '2', '3']) {
      made.unshift((await begin({ env: { VERSION: version } })).rollout.uuid)
      await moves(uuid, { kind: 'turn-back', reason: `${version} is bad` })
    }
    const list = async (query: Record<string, string> = {}) =>
      (await user.api.one('getRollouts', { object: 'web', query })).rollouts
    assert.deepEqual(
      (await list()).map((one) => one.uuid),
      made,
    )
    const [last, ...others] = await list({ limit: '1' })
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(last, { uuid: made[0], phase: 'returned', reason: '3 is bad' })
    assert.ok(last?.ended_at !== undefined && last.new_instances === undefined && last.percent === undefined)
    for (const limit of ['0', '51']) {
      const { errors } = await user.api.attempt('getRollouts', { object: 'web', query: { limit } })
      assert.match(errors[0]?.message ?? '', /'limit'.* must be in the range 1 to 50/)
    }
  })

  it('show which instances are new, and which are kept until when', async () => {
    const uuid = await published()
    const { rollout } = await begin({ keep_s: 600 })
    await moves(uuid, give)
    const show = async () => (await user.api.one('getRollouts', { object: 'web' })).rollouts[0]!
    assert.partialDeepStrictEqual(await show(), { phase: 'baking', percent: 100 })
    await moves(uuid, finish)
    const kept = await show()
    assert.deepEqual([kept.phase, kept.new_instances], ['kept', []])
    assert.deepEqual(kept.old_instances?.[0]?.name, rollout.new_instances?.[0]?.name)
    const leftMs = Date.parse(kept.kept_until ?? '') - Date.now()
    assert.ok(leftMs > 500_000 && leftMs < 660_000, kept.kept_until)
  })

  it('go back at a word, which their workflow hears', async () => {
    const uuid = await published()
    await begin()
    const { rollout } = await user.api.one('rollBackServices', { object: 'web' })
    assert.equal(rollout.phase, 'preparing')
    assert.equal(api.rolloutControl.calls.at(-1), 'lookAgain')
    assert.partialDeepStrictEqual(await newest(uuid), { recalledBy: { by: 'token' } })
  })

  it('do not go back without a way back, and say why', async () => {
    const uuid = await published()
    const nothing =
      "Service group 'web' has no old version to go back to: no rollout is under way, and none is kept"
    assert.equal(await rollbackRefusal(), nothing)
    await begin()
    await moves(uuid, { kind: 'go-back', reason: 'it is bad' })
    assert.equal(await rollbackRefusal(), "The rollout of service group 'web' goes back already: it is bad")
    await moves(uuid, { kind: 'turn-back' })
    assert.equal(await rollbackRefusal(), nothing)
    await begin()
    await moves(uuid, give, finish, { kind: 'forget' })
    assert.equal(await rollbackRefusal(), nothing)
  })

  it('begin and go back also while Temporal is away; the log says what mends it', async () => {
    await published()
    api.rolloutControl.faults.isAway = true
    const { rollout } = await begin()
    assert.ok(
      api.logLines.some((line) => line.includes('the sweep will start') && line.includes(rollout.uuid)),
    )
    const unstarted = await findUnstartedRollouts(api.database, { olderThanMs: -60_000, limit: 100 })
    assert.ok(unstarted.some(({ rolloutUuid }) => rolloutUuid === rollout.uuid))
    await user.api.one('rollBackServices', { object: 'web' })
    assert.ok(api.logLines.some((line) => line.includes('look by itself') && line.includes(rollout.uuid)))
  })

  it('are nothing for other accounts', async () => {
    const uuid = await published()
    await begin()
    const other = await api.addUser()
    for (const id of ['createRollouts', 'getRollouts', 'rollBackServices'] as const) {
      const answer = await other.api.attempt(id, {
        object: uuid,
        ...(id === 'createRollouts' && { body: {} }),
      })
      assert.equal(answer.status, 'error', id)
      assert.match(messagesOf(answer)[0] ?? '', /^No service group/, id)
    }
    assert.equal((await newest(uuid)).recalledBy, null)
  })

  it('are within the services of a limited token alone', async () => {
    await published('web')
    await published('api')
    await begin({}, 'api')
    const { token } = await createToken(api.database, {
      userUuid: user.uuid,
      rights: { scopes: [TokenScope.Read, TokenScope.Operate], services: ['web'] },
    })
    const limited = createApiClient({ url: api.url, token })
    try {
      const { rollout } = await limited.one('createRollouts', { object: 'web', body: {} })
      assert.equal(rollout.phase, 'preparing')
      assert.equal((await limited.one('getRollouts', { object: 'web' })).rollouts.length, 1)
      await limited.one('rollBackServices', { object: 'web' })
      for (const id of ['createRollouts', 'getRollouts', 'rollBackServices'] as const) {
        const answer = await limited.attempt(id, {
          object: 'api',
          ...(id === 'createRollouts' && { body: {} }),
        })
        assert.match(messagesOf(answer)[0] ?? '', /^No service group/, id)
      }
    } finally {
      await limited.close()
    }
  })

  it('tell no value of a variable in an answer, an event or the log', async () => {
    const uuid = await published('web', { env: { PASSWORD: `old-${secret}` } })
    const told: unknown[] = [await begin({ env: { PASSWORD: secret } })]
    told.push(await user.api.one('getRollouts', { object: 'web' }))
    told.push(await user.api.one('rollBackServices', { object: 'web' }))
    await moves(uuid, { kind: 'go-back', reason: 'asked' }, { kind: 'turn-back' })
    told.push(
      await api.database.db.selectFrom('events').selectAll().where('userUuid', '=', user.uuid).execute(),
    )
    told.push(await listRollouts(api.database, uuid, 5), api.rolloutControl.started)
    const text = JSON.stringify(told)
    assert.ok(text.includes('PASSWORD') || text.includes('env'), 'the change itself is told')
    assert.ok(!text.includes(secret), text)
    assert.ok(!api.logLines.some((line) => line.includes(secret)))
  })
})
