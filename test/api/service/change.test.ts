import { strict as assert } from 'node:assert'
import { createToken } from '../../../src/db/account/tokens.ts'
import { createApiClient } from '../../support/api-client.ts'
import type { Answer, Entry } from '../../support/api-client.ts'
import { startTestApi, testMetroDomain } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { readRows } from '../../support/rows.ts'
import { settledEvents } from '../../support/settled-events.ts'

type Change = Entry<'updateServices'>

describe('a change of a service', () => {
  let api: TestApi
  let user: TestUser
  let names = 0
  let domain: string
  before(async () => {
    api = await startTestApi({ settings: { publicPorts: { offset: 0, withheld: new Set([7_070]) } } })
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
    domain = `web-${++names}`
    const body = {
      name: 'web',
      services: [{ port: 443, destination_port: 8080 }],
      domains: [{ name: domain }],
    }
    await user.api.one('createServices', { body })
  })

  const view = (object = 'web', of = user) => of.api.one('getServices', { object })
  const attempt = (body: unknown, of = user) => of.api.attempt('updateServices', { body })
  /** Changes `web` in local scope, which has to succeed. */
  const changed = async (body: unknown): Promise<Change> =>
    (await user.api.call('updateServices', { object: 'web', body }))[0]!
  const failures = ({ entries }: Answer<'updateServices'>) =>
    entries.map((entry) => ('error' in entry ? [entry.error, entry.message] : entry.changed))
  const portsOf = async (object?: string) =>
    ((await view(object)).services ?? []).map(({ port, destination_port: own }) => `${port}:${own}`)
  const events = async (kind = 'service.changed') => {
    await settledEvents(api.database)
    return user.api.call('listEvents', { query: { kind } })
  }
  /** When the row was written last, which is not shown by the API. */
  const version = async () =>
    readRows(api.database, {
      text: `select xmin::text, (select json_agg(xmin::text) from domains where service_uuid = services.uuid)
        from services where user_uuid = $1`,
      values: [user.uuid],
    })

  it('replaces what it names, leaves the rest, and touches no instance', async () => {
    const instance = await user.api.one('createInstances', {
      body: { name: 'one', image: 'hello', service_group: { name: 'web' } },
    })
    const before = await view()
    const seen = await user.api.one('getInstances', { object: 'one' })
    const calls = api.control.calls.length
    const { status, uuid, ...more } = await changed({ soft_limit: 10, services: [{ port: 8443 }] })
    assert.deepEqual([status, uuid], ['success', before.uuid])
    assert.deepEqual(more, { name: 'web', changed: ['soft_limit', 'services'], domains: before.domains })
    assert.deepEqual(await view(), {
      ...before,
      soft_limit: 10,
      services: [{ port: 8443, destination_port: 8443, handlers: ['tls'] }],
    })
    assert.deepEqual(await user.api.one('getInstances', { object: 'one' }), seen)
    assert.deepEqual([api.control.calls.length, seen.uuid], [calls, instance.uuid])
  })

  it('adds ports, replaces a port that is published, and takes ports away', async () => {
    await changed({ add: { services: [{ port: 8443 }, { port: 443, destination_port: 3000 }] } })
    assert.deepEqual(await portsOf(), ['443:3000', '8443:8443'])
    await changed({ add: { services: [{ port: 80 }] }, del: { services: [{ port: 8443 }] } })
    assert.deepEqual(await portsOf(), ['443:3000', '80:80'])
    await changed({ del: { services: [443, { port: 80, destination_port: 1 }] } })
    assert.deepEqual(await portsOf(), [])
    assert.equal((await view()).domains?.length, 1)
  })

  it('has the form of newer clients as well, alone or in an array', async () => {
    const answer = await user.api.call('updateServices', {
      object: 'web',
      body: [
        { id: 'a', prop: 'soft_limit', op: 'set', value: 7 },
        { id: 'b', prop: 'services', op: 'add', value: [{ port: 9000 }] },
        { id: 'c', prop: 'services', op: 'del', value: [443] },
        { prop: 'hard_limit', op: 'set', value: 9 },
      ],
    })
    assert.deepEqual(
      answer.map((entry) => entry.id),
      ['a', 'b', 'c', undefined],
    )
    for (const { changed } of answer) assert.deepEqual(changed, ['soft_limit', 'hard_limit', 'services'])
    assert.deepEqual(await portsOf(), ['9000:9000'])
    const { uuid } = await view()
    const [entry] = await user.api.call('updateServices', { body: { uuid, prop: 'services', op: 'del' } })
    assert.deepEqual([entry?.changed, await portsOf()], [['services'], []])
    assert.deepEqual((await changed({ prop: 'soft_limit', op: 'set' })).changed, ['soft_limit'])
    assert.equal((await view()).soft_limit, 1)
  })

  it('gives limits their defaults again, and empties ports and domains', async () => {
    await changed({ soft_limit: 5, hard_limit: 6 })
    const clear = ['soft_limit', 'hard_limit', 'services', 'domains']
    assert.deepEqual((await changed({ clear })).changed, clear)
    const { soft_limit: soft, hard_limit: hard, services, domains } = await view()
    assert.deepEqual({ soft, hard, services, domains }, { soft: 1, hard: 65_535, services: [], domains: [] })
    assert.deepEqual((await changed({ clear: ['services'], services: [{ port: 443 }] })).changed, [
      'services',
    ])
  })

  it('that changes nothing writes nothing and tells no event', async () => {
    const before = await version()
    const { services, domains = [] } = await view()
    for (const body of [
      {},
      { soft_limit: 1, hard_limit: 65_535 },
      { services, domains: domains.map(({ fqdn }) => ({ name: `${fqdn}.` })) },
      { add: { services, domains: [{ name: domain }] } },
      { del: { services: [443] }, add: { services } },
      { clear: ['soft_limit'] },
      [{ soft_limit: 9 }, { soft_limit: 1 }],
    ]) {
      assert.deepEqual((await changed(body)).changed, [], JSON.stringify(body))
    }
    assert.deepEqual(await version(), before)
    assert.equal((await events()).length, 0)
  })

  it('is one event with the values before and after, whatever number of objects asked for it', async () => {
    await changed([
      { soft_limit: 10, add: { services: [{ port: 8080 }] } },
      { soft_limit: 20, add: { domains: [{ name: `${domain}-b` }] }, del: { domains: [domain] } },
    ])
    const [event, ...more] = await events()
    assert.deepEqual(more, [])
    assert.partialDeepStrictEqual(event, {
      kind: 'service.changed',
      why:
        'a change was asked for: soft_limit from 1 to 20; ports 443:8080, 8080 (before: 443:8080); ' +
        `domains +${domain}-b.${testMetroDomain} -${domain}.${testMetroDomain}`,
      by: { kind: 'token' },
      facts: {
        soft_limit_before: 1,
        soft_limit: 20,
        services_before: '443:8080/tls+http',
        services: '443:8080/tls+http, 8080:8080/tls',
        domains_before: `${domain}.${testMetroDomain}`,
        domains: `${domain}-b.${testMetroDomain}`,
      },
    })
  })

  const refused: readonly [what: string, body: unknown, sentence: RegExp][] = [
    [
      'a port twice in one list',
      { add: { services: [{ port: 1 }, { port: 1 }] } },
      /^Port 1 is published more/,
    ],
    ['a wrong handler', { services: [{ port: 443, handlers: ['http'] }] }, /^Port 443 must have .* 'tls'$/],
    ['a domain twice in one list', { domains: [{ name: 'a' }, { name: 'A' }] }, /given more than once in/],
    ['a malformed domain', { add: { domains: [{ name: 'a..b' }] } }, /^Invalid DNS name 'a\.\.b'/],
    ['an unknown property', { name_: 'x' }, /^Unknown parameter 'name_' in service group change arguments$/],
    ['an unknown list', { add: { hosts: [] } }, /^Unknown parameter 'add\.hosts'/],
    ['something that can not be cleared', { clear: ['name'] }, /^'name' is not a valid flag for 'clear'/],
    [
      'a port that is a text',
      { del: { services: ['443'] } },
      /^'del\.services\[0\]' .*'integer' or 'object'$/,
    ],
    ['a port of 0', { del: { services: [0] } }, /must be in the range 1 to 65535$/],
    ['a limit of 0', { soft_limit: 0 }, /must be in the range 1 to 65535$/],
    [
      'too many ports',
      { services: Array.from({ length: 65 }, (_, port) => ({ port })) },
      /too many elements/,
    ],
    ['a long id', { id: 'x'.repeat(129) }, /^Value of 'id' is too long: at most 128 characters$/],
    ['another object', { uuid: '11111111-1111-4111-8111-111111111111' }, /the path already names the object/],
  ]
  for (const [what, body, sentence] of refused) {
    it(`is refused as a whole with ${what}`, async () => {
      const answer = await user.api.attempt('updateServices', { object: 'web', body })
      assert.equal(answer.httpStatus, 400)
      assert.match(answer.errors[0]?.message ?? '', sentence)
      assert.deepEqual(await portsOf(), ['443:8080'])
    })
  }

  it('names what was to be taken away and is not there, and what is', async () => {
    const taken = await attempt([
      { name: 'web', del: { services: [81] } },
      { name: 'nothing', id: 'n' },
    ])
    assert.deepEqual(failures(taken), [
      [8, "Port 81 is not published by service group 'web', so it can not be taken away; published: 443"],
      [8, "No service group with name 'nothing'"],
    ])
    assert.deepEqual(
      taken.entries.map(({ name, id }) => [name, id]),
      [
        ['web', undefined],
        ['nothing', 'n'],
      ],
    )
    const message = `Service group 'web' has no domain 'x.test' that could be taken away; its domains: ${domain}.${testMetroDomain}`
    assert.deepEqual(failures(await attempt({ name: 'web', del: { domains: ['x.test.'] } })), [[8, message]])
  })

  it('is all or nothing for each service, and each service stands for itself', async () => {
    await user.api.one('createServices', { body: { name: 'other' } })
    const answer = await attempt([
      { name: 'web', soft_limit: 9, id: '1' },
      { name: 'other', soft_limit: 9, id: '2' },
      { name: 'web', add: { services: [{ port: 7070 }] }, id: '3' },
    ])
    const sentence =
      'Port 7070 cannot be used: a part of the platform itself listens there; publish another one'
    assert.equal(answer.status, 'partial_success')
    assert.deepEqual(failures(answer), [[24, sentence], ['soft_limit'], [24, sentence]])
    assert.deepEqual(
      answer.entries.map(({ id }) => id),
      ['1', '2', '3'],
    )
    assert.deepEqual([(await view()).soft_limit, (await view('other')).soft_limit], [1, 9])
    assert.equal((await events()).length, 1)
  })

  it('holds the rules of a creation for its result, not for the steps to it', async () => {
    await changed({ hard_limit: 10 })
    const above =
      "Value of 'soft_limit' in service group change arguments must not be above that of 'hard_limit': "
    assert.deepEqual(failures(await attempt({ name: 'web', soft_limit: 11 })), [
      [7, `${above}11 is above 10`],
    ])
    assert.deepEqual((await changed([{ soft_limit: 11 }, { hard_limit: 12 }])).changed, [
      'soft_limit',
      'hard_limit',
    ])
    const many = Array.from({ length: 64 }, (_, index) => ({ port: 20_000 + index }))
    const tooMany = "Value of 'services' has too many elements: 65, but at most 64"
    assert.deepEqual(failures(await attempt({ name: 'web', add: { services: many } })), [[5, tooMany]])
    await changed([{ add: { services: many } }, { del: { services: [443] } }])
    assert.equal((await portsOf()).length, 64)
  })

  it('counts published ports in the quota of services', async () => {
    const hard = { services: 2 }
    user = await api.addUser({ hard })
    await user.api.one('createServices', { body: { name: 'web', services: [{ port: 443 }] } })
    assert.deepEqual((await changed({ add: { services: [{ port: 8443 }] } })).changed, ['services'])
    assert.deepEqual(failures(await attempt({ name: 'web', add: { services: [{ port: 9443 }] } })), [
      [19, "Quota 'services' exceeded: 3 with this request, 2 allowed"],
    ])
    assert.deepEqual((await changed({ services: [{ port: 9443 }, { port: 80 }] })).changed, ['services'])
    assert.equal((await user.api.one('getQuotas')).used.services, 2)
  })

  it('does not find the service of another user', async () => {
    const other = await api.addUser()
    const { uuid } = await view()
    for (const target of [{ uuid }, { name: 'web' }]) {
      const [by, value] = Object.entries(target)[0]!
      const answer = await attempt({ ...target, soft_limit: 9 }, other)
      assert.deepEqual(failures(answer), [[8, `No service group with ${by} '${value}'`]])
    }
    assert.equal((await view()).soft_limit, 1)
  })

  it('by a token that is limited to the service is for its limits and ports, and takes domains away', async () => {
    const rights = { scopes: null, services: ['web'] }
    const { token } = await createToken(api.database, { userUuid: user.uuid, rights })
    const limited = createApiClient({ url: api.url, token })
    try {
      const change = (body: object) => limited.attempt('updateServices', { object: 'web', body })
      const services = [{ port: 8443 }]
      assert.deepEqual(failures(await change({ soft_limit: 4, services })), [['soft_limit', 'services']])
      for (const body of [{ domains: [{ name: 'x' }] }, { add: { domains: [{ name: 'x' }] } }]) {
        const { httpStatus, errors } = await change(body)
        assert.deepEqual([httpStatus, errors[0]?.error], [403, 14])
        assert.match(errors[0]?.message ?? '', /limited to the service group 'web', and domains and/)
      }
      assert.deepEqual(failures(await change({ del: { domains: [domain] } })), [['domains']])
    } finally {
      await limited.close()
    }
  })

  it('of many requests at once loses none', async () => {
    const ports = Array.from({ length: 8 }, (_, index) => 9_000 + index)
    await Promise.all(
      ports.map((port) =>
        user.api.one('updateServices', { object: 'web', body: { add: { services: [{ port }] } } }),
      ),
    )
    assert.deepEqual((await portsOf()).toSorted(), ['443:8080', ...ports.map((port) => `${port}:${port}`)])
  })
})
