import { strict as assert } from 'node:assert'
import { messages, parse } from '../../support/parsed-requests.ts'

describe('what a request leaves out', () => {
  it('must not be in the query: an empty value is refused there, and so is an empty element of a list', () => {
    const empty = (name: string) => [
      `Query parameter '${name}' has an empty value: give one, or leave the parameter out`,
    ]
    assert.deepEqual(messages('getInstances', { query: 'details=' }), empty('details'))
    assert.deepEqual(messages('getInstances', { query: 'count=' }), empty('count'))
    assert.deepEqual(messages('getInstances', { query: 'uuid=' }), empty('uuid'))
    assert.deepEqual(messages('getInstances', { query: 'name=&object=' }).length, 2)
    assert.deepEqual(messages('startInstances', { query: 'name=a,' }), empty('name'))
    assert.deepEqual(messages('getInstanceLogs', { query: 'name=a,b&offset=,5' }), empty('offset'))
    assert.deepEqual(messages('waitInstances', { query: 'name=a&timeout_ms' }), empty('timeout_ms'))
    assert.deepEqual(messages('listServices', { query: 'fqdn=' }), empty('fqdn'))
    assert.deepEqual(messages('listImages', { query: 'digest=&tagged' }), empty('digest'))
  })

  it('may be null in a body, but a required value may not be null', () => {
    const body = {
      image: 'a',
      name: null,
      env: null,
      memory_mb: null,
      service_group: {
        uuid: null,
        services: [{ port: 443, handlers: null }],
        domains: [{ name: 'x', certificate: { uuid: null, name: 'c1' } }],
      },
      volumes: [{ name: null, uuid: '', size_mb: 8, at: '/data', readonly: null }],
      scale_to_zero: null,
    }
    assert.deepEqual(parse('createInstances', { body }).objects[0]?.parameters, {
      image: 'a',
      service_group: {
        services: [{ port: 443 }],
        domains: [{ name: 'x', certificate: { name: 'c1' } }],
      },
      volumes: [{ size_mb: 8, at: '/data' }],
    })
    const place = 'in instance creation arguments'
    const refused: readonly [object, string][] = [
      [{ image: null }, `'image' ${place} has type 'null', but expected 'string'`],
      [
        { service_group: { services: [{ port: null }] } },
        `'service_group.services[0].port' ${place} has type 'null', but expected 'integer'`,
      ],
      [{ args: [null] }, `'args[0]' ${place} has type 'null', but expected 'string'`],
      [{ volumes: [null] }, `'volumes[0]' ${place} has type 'null', but expected 'object'`],
      [{ env: { A: null } }, `'env.A' ${place} has type 'null', but expected 'string'`],
      [{ unknown: null }, `Unknown parameter 'unknown' ${place}`],
    ]
    for (const [wrong, message] of refused) {
      assert.deepEqual(messages('createInstances', { body: { image: 'a', ...wrong } }), [message])
    }
  })

  it('may be null in every form of a body', () => {
    const target = { by: 'name', value: 'a' }
    const waits = (body: object) => parse('waitInstances', { body }).objects
    assert.deepEqual(waits({ ids: null, name: 'a', uuid: null, state: null }), [{ target, parameters: {} }])
    assert.deepEqual(waits({ ids: [{ name: 'a', uuid: null, state: null }], name: null, timeout_ms: null }), [
      { target, parameters: {} },
    ])
    const local = parse('stopInstances', { object: 'a', body: { uuid: null, name: null, force: null } })
    assert.deepEqual(local.objects, [{ target, parameters: {} }])
  })

  it('may be an empty identifier in a body, at every depth but in the environment', () => {
    const { objects } = parse('createInstances', {
      body: {
        image: 'a',
        name: '',
        env: { name: '', uuid: '' },
        service_group: { domains: [{ name: 'x', certificate: { uuid: '', name: 'c1' } }] },
      },
    })
    assert.deepEqual(objects[0]?.parameters, {
      image: 'a',
      env: { name: '', uuid: '' },
      service_group: { domains: [{ name: 'x', certificate: { name: 'c1' } }] },
    })
  })

  it('may be the value of a flag in the query', () => {
    for (const text of ['details', 'details=1', 'details=true']) {
      assert.deepEqual(parse('getInstances', { query: text }).query, { details: true })
    }
    for (const text of ['details=0', 'details=false']) {
      assert.deepEqual(parse('getInstances', { query: text }).query, { details: false })
    }
    assert.equal(messages('getInstances', { query: 'details=yes' }).length, 1)
  })
})
