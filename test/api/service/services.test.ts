import { strict as assert } from 'node:assert'
import { startTestApi, testMetroDomain } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { readRows } from '../../support/rows.ts'

describe('services', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    user = await api.addUser()
  })

  const create = (body: object) => user.api.attempt('createServices', { body })
  const created = (body: object) => user.api.one('createServices', { body })
  const view = (object: string) => user.api.one('getServices', { object })

  it('are made persistent, with a generated name and a domain of that name', async () => {
    const service = await created({ services: [{ port: 443, destination_port: 8080 }] })
    assert.match(service.name, /^[a-z]+-[a-z]+-[a-z0-9]{8}$/)
    assert.deepEqual(service.domains, [{ fqdn: `${service.name}.${testMetroDomain}` }])
    const { created_at, ...seen } = await view(service.name)
    assert.match(created_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(seen, {
      status: 'success',
      uuid: service.uuid,
      name: service.name,
      persistent: true,
      autoscale: false,
      soft_limit: 1,
      hard_limit: 65_535,
      services: [{ port: 443, destination_port: 8080, handlers: ['tls', 'http'] }],
      domains: service.domains,
      instances: [],
    })
  })

  it('show the instances that are attached, and these show them', async () => {
    const service = await created({ name: 'web', services: [{ port: 443 }] })
    const instance = await user.api.one('createInstances', {
      body: { image: 'hello', name: 'one', service_group: { uuid: '', name: 'web' } },
    })
    const attached = { uuid: service.uuid, name: 'web', domains: service.domains }
    assert.deepEqual(instance.service_group, attached)
    assert.deepEqual((await user.api.one('getInstances', { object: 'one' })).service_group, attached)
    assert.deepEqual((await view('web')).instances, [{ uuid: instance.uuid, name: 'one' }])
  })

  it('are made by array, each by itself, and answered in its order', async () => {
    const answer = await create([
      { name: 'one', services: [{ port: 443 }], domains: [{ name: 'array-one' }] },
      { name: 'two', services: [{ port: 443 }], domains: [{ name: 'array-one' }] },
      { name: 'one', services: [{ port: 443 }] },
      { name: 'api', domains: [{ name: 'API' }] },
      { name: 'three', services: [{ port: 443 }] },
    ])
    assert.deepEqual([answer.httpStatus, answer.status], [200, 'partial_success'])
    assert.deepEqual(answer.entries.slice(1, 4), [
      {
        status: 'error',
        name: 'two',
        message: `Domain 'array-one.${testMetroDomain}' is already in use`,
        error: 23,
      },
      { status: 'error', name: 'one', message: "Service group with name 'one' already exists", error: 23 },
      {
        status: 'error',
        name: 'api',
        message: `Domain 'api.${testMetroDomain}' is reserved and cannot be used`,
        error: 24,
      },
    ])
    const listed = await user.api.call('listServices')
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['one', 'three'],
    )
  })

  it('without ports need neither ports nor domains', async () => {
    for (const body of [{}, { services: [], domains: [] }, { name: '' }]) {
      assert.deepEqual((await created(body)).domains, [])
    }
  })

  it('show custom domains with their certificate, and none for those of the metro domain', async () => {
    const { domains } = await created({
      services: [{ port: 443 }],
      domains: [
        { name: 'Shop.Example.com..' },
        { name: 'shop-show' },
        { name: `deep-show.${testMetroDomain}.` },
      ],
    })
    const [{ certificate }] = domains as [(typeof domains)[number]]
    assert.match(certificate?.name ?? '', /^shop\.example\.com-[a-z0-9]{5}$/)
    assert.equal(certificate?.state, 'pending')
    assert.deepEqual(domains, [
      { fqdn: 'shop.example.com', certificate },
      { fqdn: `shop-show.${testMetroDomain}` },
      { fqdn: `deep-show.${testMetroDomain}` },
    ])
  })

  it('take a certificate with an empty identifier beside the other', async () => {
    await readRows(api.database, {
      text: `insert into certificates (uuid, user_uuid, name, common_name, state)
             values (gen_random_uuid(), $1, 'c1', 'c1.example.com', 'valid')`,
      values: [user.uuid],
    })
    const named = (name: string, domain = 'c1.example.com.') =>
      create({ domains: [{ name: domain, certificate: { uuid: '', name } }] })
    const codes = async (answer: ReturnType<typeof create>) =>
      (await answer).entries.map((entry) => ('error' in entry ? [entry.error, entry.message] : entry.domains))
    assert.partialDeepStrictEqual(await codes(named('c1')), [
      [{ certificate: { name: 'c1', state: 'valid' } }],
    ])
    assert.deepEqual(await codes(named('c2')), [[8, "No certificate with name 'c2'"]])
    const mismatch = "The certificate for 'c1.example.com' does not match the domain 'c2.example.com'"
    assert.deepEqual(await codes(named('c1', 'c2.example.com.')), [[30, mismatch]])
    assert.match(JSON.stringify(await codes(create({ domains: [{ name: '*.example.com.' }] }))), /^\[\[24,/)
  })

  const invalid: readonly [string, object, RegExp][] = [
    [
      'a port twice',
      { services: [{ port: 443 }, { port: 443 }] },
      /^Port 443 is published more than once in (service|instance) /,
    ],
    [
      'port 80 with TLS',
      { services: [{ port: 80, handlers: ['http', 'tls'] }] },
      /^Port 80 must not have .* 'tls'$/,
    ],
    [
      'port 80 without HTTP',
      { services: [{ port: 80, handlers: [] }] },
      /^Port 80 must have the handler 'http'$/,
    ],
    [
      'port 443 without TLS',
      { services: [{ port: 443, handlers: ['http'] }] },
      /^Port 443 must have .* 'tls'$/,
    ],
    [
      'another port with HTTP',
      { services: [{ port: 81, handlers: ['tls', 'http'] }] },
      /^Port 81 must not have/,
    ],
    [
      'a redirect to another port',
      { services: [{ port: 80, destination_port: 8443, handlers: ['http', 'redirect'] }] },
      /^The handler 'redirect' of port 80 must have the destination port 443, not 8443$/,
    ],
    [
      'a handler that there is not',
      { services: [{ port: 443, handlers: ['smth'] }] },
      /^'smth' is not a valid flag for 'services\[0\].handlers'/,
    ],
    [
      'a port that is none',
      { services: [{ port: 65_536 }] },
      /^Value of 'port' in service port description must be in the range 1 to 65535$/,
    ],
    ['a soft limit of 0', { soft_limit: 0 }, /^Value of 'soft_limit' must be in the range 1 to 65535$/],
    [
      'a soft limit above the hard one',
      { soft_limit: 5, hard_limit: 4 },
      /must not be above that of 'hard_limit': 5 is above 4$/,
    ],
    [
      'a hard limit below the default soft one',
      { hard_limit: 0 },
      /^Value of 'hard_limit' must be in the range 1/,
    ],
    ['a domain that is none', { domains: [{ name: 'a_b' }] }, /^Invalid DNS name 'a_b': 'a_b' is no label/],
    ['a domain without a name', { domains: [{ name: '' }] }, /^Missing 'domains\[0\].name'/],
    ['a deep domain of the metro', { domains: [{ name: 'a.b' }] }, /^Invalid DNS name 'a.b': only one label/],
    [
      'a domain twice',
      { domains: [{ name: 'twice' }, { name: `TWICE.${testMetroDomain}.` }] },
      /^Domain 'twice.metro.test' is given more than once/,
    ],
    [
      'a certificate for a domain of the metro',
      { domains: [{ name: 'web', certificate: { name: 'c1' } }] },
      /^Domain 'web.metro.test' cannot have a certificate/,
    ],
    [
      'a certificate without identifier',
      { domains: [{ name: 'a.example.', certificate: {} }] },
      /^Missing identifier in certificate/,
    ],
    ['a bad name', { name: 'a--b' }, /^Invalid name 'a--b'/],
  ]
  for (const [what, body, message] of invalid) {
    it(`are refused as a whole for ${what}, alone and made with an instance`, async () => {
      for (const refused of [
        await create([{}, body]),
        ...('name' in body
          ? []
          : [await user.api.attempt('createInstances', { body: { image: 'hello', service_group: body } })]),
      ]) {
        assert.equal(refused.httpStatus, 400)
        const found = refused.errors.map((each) =>
          each.message.replace('[1].', '').replace('service_group.', ''),
        )
        assert.ok(
          found.some((each) => message.test(each.replace(' in service group description', ''))),
          JSON.stringify(found),
        )
      }
      assert.deepEqual(await user.api.call('listServices'), [])
      assert.deepEqual(await user.api.call('listInstances'), [])
    })
  }

  it('are not deleted while instances are attached', async () => {
    const service = await created({
      name: 'busy',
      services: [{ port: 443 }],
      domains: [{ name: 'busy-delete' }],
    })
    await user.api.one('createInstances', {
      body: { image: 'hello', name: 'i', service_group: { name: 'busy' } },
    })
    const refused = await user.api.attempt('deleteServices', { body: { name: 'busy' } })
    const message = "Service group 'busy' has instances attached: delete them first"
    assert.deepEqual(refused.entries, [
      { status: 'error', uuid: service.uuid, name: 'busy', message, error: 15 },
    ])
    await user.api.one('deleteInstances', { object: 'i' })
    assert.deepEqual(await user.api.one('deleteServices', { object: service.uuid }), {
      status: 'success',
      uuid: service.uuid,
      name: 'busy',
    })
    const gone = await user.api.attempt('getServices', { body: [{ name: 'busy' }] })
    assert.deepEqual(gone.entries, [
      { status: 'error', name: 'busy', message: "No service group with name 'busy'", error: 8 },
    ])
    await created({ name: 'busy', domains: [{ name: 'busy-delete' }] })
  })

  it('are deleted once where a request names one twice', async () => {
    await created({ name: 'twice' })
    const answer = await user.api.attempt('deleteServices', { body: [{ name: 'twice' }, { name: 'twice' }] })
    assert.deepEqual(
      answer.entries.map((entry) => entry.status),
      ['success', 'error'],
    )
  })

  it('show no more than their names without details', async () => {
    const { uuid } = await created({ name: 'plain' })
    const details = { details: 'false' }
    assert.deepEqual(await user.api.call('getServices', { query: details }), [{ uuid, name: 'plain' }])
    assert.deepEqual(await user.api.one('getServices', { object: uuid, query: details }), {
      status: 'success',
      uuid,
      name: 'plain',
    })
  })

  it('are listed by filters in the body and in the query', async () => {
    await created({ name: 'kept', domains: [{ name: 'kept-list' }] })
    await user.api.one('createInstances', { body: { image: 'hello', service_group: {} } })
    const [, implicit] = await user.api.call('listServices')
    const names = async (input: object) =>
      (await user.api.call('listServices', input)).map(({ name }) => name)
    for (const form of ['body', 'query'] as const) {
      const flag = (value: boolean) => (form === 'query' ? String(value) : value)
      assert.deepEqual(await names({ [form]: { persistent: flag(true) } }), ['kept'])
      assert.deepEqual(await names({ [form]: { persistent: flag(false) } }), [implicit?.name])
      assert.deepEqual(await names({ [form]: { fqdn: `KEPT-list.${testMetroDomain}.` } }), ['kept'])
      assert.deepEqual(await names({ [form]: { fqdn: 'kept-list' } }), [])
    }
    assert.deepEqual(await names({ body: [{ fqdn: 'x.y' }, { persistent: true }] }), ['kept'])
  })

  it('page with count, and from a UUID or an offset', async () => {
    for (const name of ['a', 'b', 'c']) await created({ name })
    const names = async (query: Record<string, string>) =>
      (await user.api.call('getServices', { query })).map(({ name }) => name)
    assert.deepEqual(await names({ count: '2' }), ['a', 'b'])
    const [, b] = await user.api.call('listServices', { query: { count: '2' } })
    assert.deepEqual(await names({ count: '2', from: b!.uuid }), ['c'])
    assert.deepEqual(await names({ from: '1', count: '1' }), ['b'])
    const unknown = await user.api.attempt('getServices', { query: { from: user.uuid } })
    assert.match(unknown.errors[0]?.message ?? '', /no service group with uuid/)
  })

  it('count against the quotas, which are told', async () => {
    const small = await api.addUser({ hard: { serviceGroups: 2, services: 2 } })
    await small.api.one('createServices', { body: { services: [{ port: 443 }, { port: 80 }] } })
    assert.partialDeepStrictEqual((await small.api.one('getQuotas')).used, { service_groups: 1, services: 2 })
    const body = { image: 'hello', name: 'over', service_group: { services: [{ port: 443 }] } }
    const answer = await small.api.attempt('createInstances', { body })
    const message = "Quota 'services' exceeded: 3 with this request, 2 allowed"
    assert.deepEqual(answer.entries, [{ status: 'error', name: 'over', message, error: 19 }])
    await small.api.one('createServices', { body: {} })
    const [entry] = (await small.api.attempt('createServices', { body: {} })).entries
    assert.ok(entry && 'error' in entry && entry.error === 19)
  })

  it('give a domain that many ask for at once to one of them', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => api.addUser()))
    const service_group = {
      services: [{ port: 443 }],
      domains: [{ name: 'wanted' }, { name: 'wanted.example.' }],
    }
    const answers = await Promise.all(
      users.flatMap((one) => [
        one.api.attempt('createServices', { body: service_group }),
        one.api.attempt('createInstances', { body: { image: 'hello', service_group } }),
      ]),
    )
    assert.ok(answers.every(({ httpStatus }) => httpStatus === 200))
    const errors = answers.flatMap(({ entries }) =>
      entries.flatMap((one) => ('error' in one ? one.error : [])),
    )
    assert.deepEqual(
      errors,
      Array.from({ length: answers.length - 1 }, () => 23),
    )
  })
})
