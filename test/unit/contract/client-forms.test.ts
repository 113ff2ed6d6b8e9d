import { strict as assert } from 'node:assert'
import { whyAbsent, whyNoEndpoint } from '../../../src/contract/absent-features.ts'
import { messages, parse } from '../../support/parsed-requests.ts'

const only = (id: Parameters<typeof parse>[0], body: object) =>
  parse(id, { body }).objects.map(({ parameters }) => parameters)

describe('a form of newer clients', () => {
  it('means the form that has a schema', () => {
    assert.deepEqual(only('createInstances', { image: { url: 'hello', pull_policy: null } }), [
      { image: 'hello' },
    ])
    const change = { name: 'web', prop: 'image', op: 'set', value: { url: 'hello', headers: null } }
    assert.deepEqual(only('updateInstances', change), [{ image: 'hello' }])
    const pem = { chain: 'c', pkey: 'k' }
    assert.deepEqual(only('createCertificates', { common_name: 'a.example', ...pem }), [
      { cn: 'a.example', ...pem },
    ])
    const both = { common_name: 'a.example', cn: 'b.example', ...pem }
    assert.deepEqual(only('createCertificates', both), [{ cn: 'a.example', ...pem }])
    assert.deepEqual(
      only('createAutoscale', { name: 's', create_args: { template: { name: 'web' }, roms: null } }),
      [{ master: { name: 'web' } }],
    )
  })

  it('gets the errors of that form', () => {
    assert.deepEqual(messages('createInstances', { body: [{ image: { url: 5 } }] }), [
      "'[0].image' in instance creation arguments has type 'integer', but expected 'string'",
    ])
    assert.deepEqual(messages('createInstances', { body: { image: {} } }), [
      "Missing 'image.url' in instance creation arguments",
    ])
    assert.deepEqual(messages('createAutoscale', { body: { name: 's', create_args: {} } }), [
      "Missing 'master' in autoscale creation arguments",
    ])
  })

  it('is refused with what it has and this platform has not', () => {
    const refusals = [
      [
        'createInstances',
        { image: { url: 'hello', credentials: 'a:b' } },
        /^'image\.credentials' in .* not supported/,
      ],
      [
        'createInstances',
        { image: { url: 'hello', pull_policy: 'never' } },
        /^'image\.pull_policy' in .* supported/,
      ],
      [
        'createInstances',
        { image: { url: 'hello', constructor: 1 } },
        /^Unknown parameter 'image\.constructor' in/,
      ],
      ['createInstances', { image: { url: 'hello', size: 1 } }, /^Unknown parameter 'image\.size' in/],
      ['createAutoscale', { name: 's', create_args: { roms: {} } }, /^'create_args\.roms' in .* no ROMs/],
      ['createVolumes', { size_mb: 8, tags: ['a'] }, /^'tags' in .* only instances have tags/],
      ['updateServices', { name: 's', prop: 'autokill', op: 'set' }, /^'autokill' in .* not supported/],
    ] as const
    assert.match(
      messages('getVolumes', { query: 'tags=a' })[0] ?? '',
      /^'tags' in the query .* only instances/,
    )
    for (const [id, body, message] of refusals) assert.match(messages(id, { body })[0] ?? '', message)
  })
})

describe('the names that are refused with a reason', () => {
  it('do not include names of the language', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'memory_mb'])
      assert.equal(whyAbsent(name), undefined)
  })

  it('are those of the endpoints that clients call, and no others', () => {
    const uuid = '11111111-1111-4111-8111-111111111111'
    const absent = [
      ['GET', '/v1/instances/checkpoints/history'],
      ['POST', '/v1/instances/templates'],
      ['PATCH', `/v1/volumes/${uuid}`],
      ['DELETE', '/v1/images'],
    ] as const
    for (const [method, path] of absent) assert.ok(whyNoEndpoint(method, path), `${method} ${path}`)
    const others = [
      ['PUT', '/v1/instances/suspend'],
      ['PATCH', '/v1/volumes/list'],
      ['GET', '/v1/images'],
      ['PUT', '/v1/instances/stop'],
    ] as const
    for (const [method, path] of others) assert.equal(whyNoEndpoint(method, path), undefined)
  })
})
