import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { RequestError } from '../../../src/contract/errors.ts'
import { maxReportedErrors } from '../../../src/contract/limits.ts'
import type { OperationId } from '../../../src/contract/operations.ts'
import { operationIds } from '../../../src/contract/operations.ts'
import { messages, parse } from '../../support/parsed-requests.ts'
import type { RequestInput } from '../../support/parsed-requests.ts'

const uuid = 'ABCDEF01-2345-4789-8abc-def012345678'

describe('a request', () => {
  it('names objects in one canonical form', () => {
    const { objects } = parse('getInstances', { body: [{ uuid }, { name: 'WEB.Front' }] })
    assert.deepEqual(
      objects.map(({ target }) => target),
      [
        { by: 'uuid', value: uuid.toLowerCase() },
        { by: 'name', value: 'web.front' },
      ],
    )
  })

  it('has the parameters of each object, whether they came in the query or in the body', () => {
    const expected = [
      { target: { by: 'name', value: 'a' }, parameters: { offset: 1, limit: 3 } },
      { target: { by: 'name', value: 'b' }, parameters: { offset: 2, limit: 3 } },
    ]
    const inputs = [
      {
        body: [
          { name: 'a', offset: 1, limit: 3 },
          { name: 'b', offset: 2, limit: 3 },
        ],
      },
      { query: 'name=a,b&offset=1,2&limit=3' },
      { query: 'name=a&name=b&offset=1&offset=2', body: { limit: 3 } },
    ]
    for (const input of inputs) assert.deepEqual(parse('getInstanceLogs', input).objects, expected)
  })

  it('tells everything that is wrong with it, but not more than a reader can use', () => {
    const wrong = messages('createInstances', {
      body: { image: 7, replicas: -1, features: ['a', 'b'], more: 1 },
    })
    assert.deepEqual(wrong.toSorted(), [
      "'a' is not a valid flag for 'features'; valid: scale-to-zero, delete-on-stop",
      "'b' is not a valid flag for 'features'; valid: scale-to-zero, delete-on-stop",
      "'image' in instance creation arguments has type 'integer', but expected 'string'",
      "Unknown parameter 'more' in instance creation arguments",
      "Value of 'replicas' must be in the range 0 to 99",
    ])
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, 1]))
    assert.equal(messages('createInstances', { body: { image: 'a', ...many } }).length, 20)
  })

  it('takes the arguments as a line or as a list, and says what is wrong inside of a list', () => {
    parse('createInstances', { body: { image: 'a', args: 'a b' } })
    parse('createInstances', { body: { image: 'a', args: [''] } })
    const place = 'in instance creation arguments'
    assert.deepEqual(messages('createInstances', { body: { image: 'a', args: 5 } }), [
      `'args' ${place} has type 'integer', but expected 'string' or 'array'`,
    ])
    assert.deepEqual(messages('createInstances', { body: { image: 'a', args: ['x', null] } }), [
      `'args[1]' ${place} has type 'null', but expected 'string'`,
    ])
  })

  it('checks a port before its destination, in the same words', () => {
    const body = { image: 'a', service_group: { services: [{ port: 70_000, destination_port: 0 }] } }
    assert.deepEqual(messages('createInstances', { body }), [
      "Value of 'port' in service port description must be in the range 1 to 65535",
      "Value of 'destination_port' in service port description must be in the range 1 to 65535",
    ])
  })

  it('has a body where something is required of it, whoever names its object', () => {
    const missing = [
      'The body of the request is missing or names nothing, but volume attach arguments are required',
    ]
    for (const input of [{ object: 'data' }, { query: 'name=data' }]) {
      assert.deepEqual(messages('attachVolumes', input), missing)
      assert.deepEqual(parse('detachVolumes', input).objects, [
        { target: { by: 'name', value: 'data' }, parameters: {} },
      ])
    }
    assert.deepEqual(messages('attachVolumes', { object: 'data', body: {} }), [
      "Missing 'attach_to' in volume attach arguments",
    ])
  })

  it('holds names of environment variables against their rules', () => {
    for (const name of ['', 'A=B', 'A\u0000', 'x'.repeat(257)]) {
      assert.equal(messages('createInstances', { body: { image: 'a', env: { [name]: '' } } }).length, 1)
    }
    assert.equal(messages('createInstances', { body: { image: 'a', env: { A: '\u0000' } } }).length, 1)
    parse('createInstances', { body: { image: 'a', env: JSON.parse('{"__proto__":"x","ä b":"\\n"}') } })
  })

  it('holds no half of a surrogate pair, which no database keeps and no guest can be given', () => {
    const half = '\ud800'
    for (const parameters of [
      { args: [half] },
      { args: half },
      { env: { A: half } },
      { env: { [half]: 'A' } },
    ]) {
      assert.ok(messages('createInstances', { body: { image: 'a', ...parameters } }).length > 0)
    }
    parse('createInstances', { body: { image: 'a', args: ['😀'], env: { '😀': '😀' } } })
  })

  it('with more errors than a stack has room for is answered with the first ones', () => {
    const body = Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`a${index}`, 1]))
    assert.equal(messages('createInstances', { body }).length, maxReportedErrors)
  })

  it('does not mistake inherited properties for parameters', () => {
    assert.deepEqual(
      messages('startInstances', { body: JSON.parse('{"name":"a","__proto__":{"wait_timeout_ms":1}}') }),
      ["Unknown parameter '__proto__' in instance start arguments"],
    )
  })

  it('makes as many filters of a collection as its lists are long', () => {
    const { objects } = parse('listInstances', { query: 'state=running,stopped' })
    assert.deepEqual(
      objects.map(({ parameters }) => parameters),
      [{ state: 'running' }, { state: 'stopped' }],
    )
    assert.equal(messages('listImages', { query: 'tag=a,b&digest=x,y,z' }).length, 1)
  })

  it('spreads ids, with the parameters beside them, over its objects', () => {
    const { objects } = parse('waitInstances', {
      body: { ids: [{ name: 'a', state: 'stopped' }, { uuid }], timeout_ms: 5 },
    })
    assert.deepEqual(objects, [
      { target: { by: 'name', value: 'a' }, parameters: { state: 'stopped', timeout_ms: 5 } },
      { target: { by: 'uuid', value: uuid.toLowerCase() }, parameters: { timeout_ms: 5 } },
    ])
    assert.ok(
      messages('waitInstances', { body: { ids: [{ name: 'a', timeout_ms: 5 }] } })[0]?.includes(
        "'ids[0].timeout_ms'",
      ),
    )
    assert.ok(messages('waitInstances', { body: { ids: [] } })[0]?.includes("'ids'"))
    assert.ok(messages('waitInstances', { body: { ids: [{}] } })[0]?.startsWith('Missing identifier'))
    assert.ok(
      messages('waitInstances', { body: [{ ids: [{ name: 'a' }] }] })[0]?.startsWith(
        "Unknown parameter '[0].ids'",
      ),
    )
  })

  it('is accepted or refused with a reason, whatever it holds', () => {
    const ids = operationIds
    fc.assert(
      fc.property(
        fc.constantFrom(...ids),
        fc.jsonValue(),
        fc.webQueryParameters(),
        fc.boolean(),
        (id, body, query, local) => {
          try {
            parse(id, { body, query, ...(local ? { object: 'x' } : {}) })
          } catch (error) {
            assert.ok(error instanceof RequestError, String(error))
            assert.ok(error.problems.length > 0)
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('about parts of an object names the object in the path, and the parts by name alone', () => {
    const parts = (object: string | undefined, owner: string) =>
      parse('getAutoscalePolicies', { owner, ...(object === undefined ? {} : { object }) })
    assert.deepEqual(parts(undefined, uuid), {
      owner: { by: 'uuid', value: uuid.toLowerCase() },
      local: false,
      objects: [],
      query: {},
      page: {},
    })
    // A part has no UUID. So text that looks like a UUID is the name of a part.
    const named = { target: { by: 'name', value: uuid.toLowerCase() }, parameters: {} }
    assert.deepEqual(parts(uuid, 'Web').objects, [named])
    assert.deepEqual(
      [parts(uuid, 'Web').owner, parts(uuid, 'Web').local],
      [{ by: 'name', value: 'web' }, true],
    )
    const wrong = (input: Partial<RequestInput>) =>
      messages('deleteAutoscalePolicies', { owner: 'web', ...input })
    assert.deepEqual(wrong({ owner: 'a--b', body: { name: 'p' } }).length, 1)
    assert.deepEqual(wrong({ body: { uuid } }), [
      "Unknown parameter 'uuid' in autoscale policy deletion arguments",
    ])
    assert.deepEqual(wrong({ query: `uuid=${uuid}` }), ["Unknown parameter 'uuid' in the query"])
    assert.deepEqual(wrong({ query: 'name=a', object: 'p' }), [
      "'name' is not allowed in the query: the path already names the object 'p'",
    ])
  })

  it('counts what a list holds before it looks at the elements', () => {
    const many = (count: number) => Array.from({ length: count }, () => 1)
    const env = Object.fromEntries(many(513).map((value, index) => [`a${index}`, value]))
    const refused: readonly [OperationId, unknown, string][] = [
      ['waitInstances', { ids: many(101) }, 'Too many objects: 101, but at most 100 per request'],
      ['waitInstances', many(101), 'Too many objects: 101, but at most 100 per request'],
      [
        'createInstances',
        { image: 'x', args: many(513) },
        "Value of 'args' has too many elements: 513, but at most 512",
      ],
      ['createInstances', { image: 'x', env }, "Value of 'env' has too many elements: 513, but at most 512"],
      [
        'createInstances',
        { image: 'x', service_group: { services: many(65) } },
        "Value of 'services' in service group description has too many elements: 65, but at most 64",
      ],
    ]
    for (const [id, body, message] of refused) assert.deepEqual(messages(id, { body }), [message])
  })

  it('with an error per few bytes costs no more than one that fits', () => {
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`a${index}`, 1]))
    const ids = Array.from({ length: 300_000 }, () => ({}))
    for (const [id, body] of [
      ['createInstances', keys],
      ['createInstances', { image: 'x', env: keys }],
      ['createInstances', { image: 'x', args: ids }],
      ['createInstances', { image: 'x', unknown: ids }],
      ['waitInstances', { ids }],
    ] as const) {
      const before = process.cpuUsage()
      assert.ok(messages(id, { body }).length <= maxReportedErrors)
      const { user, system } = process.cpuUsage(before)
      // The bound is ten times the usual cost. The validator alone would take far longer for the whole body.
      assert.ok(user + system < 300_000, `${id}: ${user + system} microseconds`)
    }
  })

  it('is told what a variable may be called, and which object its path names', () => {
    assert.deepEqual(messages('createInstances', { body: { image: 'x', env: { 'A=B': 'c' } } }), [
      "Invalid value of 'env' in instance creation arguments: 'A=B' cannot be the name of a variable: expected 1 to 256 " +
        "characters without '=', NUL and halves of surrogate pairs",
    ])
    assert.deepEqual(messages('getInstances', { object: 'history', query: 'name=x' }), [
      "'name' is not allowed in the query: the path already names the object 'history'",
    ])
  })
})
