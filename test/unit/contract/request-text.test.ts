import { strict as assert } from 'node:assert'
import { messages } from '../../support/parsed-requests.ts'

describe('a request', () => {
  it('holds no NUL in any text, and shows where one is', () => {
    const text = 'a\0b'
    const shown = String.raw`'a\u0000b' holds U+0000, which no text can hold`
    assert.deepEqual(messages('listServices', { query: 'fqdn=a%00b' }), [
      `Invalid value of 'fqdn' in the query: ${shown}`,
    ])
    assert.deepEqual(messages('listServices', { body: [{}, { fqdn: text }] }), [
      `Invalid value of '[1].fqdn' in service group list filter: ${shown}`,
    ])
    assert.deepEqual(
      messages('getInstances', { object: text })[0]?.slice(0, 23),
      String.raw`Invalid name 'a\u0000b'`,
    )
    const upload = { cn: 'a.test', chain: 'x', pkey: `secret${text}` }
    assert.deepEqual(messages('createCertificates', { body: upload }), [
      "Invalid value of 'pkey' in certificate creation arguments: it holds U+0000, which no text can hold",
    ])
    assert.deepEqual(messages('createInstances', { body: { image: 'a', env: { TOKEN: text } } }), [
      "Invalid value of 'env.TOKEN' in instance creation arguments: it holds U+0000, which no text can hold",
    ])
    assert.deepEqual(messages('createInstances', { body: { image: 'a', args: '\ud800' } }), [
      "Invalid value of 'args' in instance creation arguments: '\\ud800' holds U+D800, which no text can hold",
    ])
  })

  it('has a parameter in the query or in the body, and is told so in one sentence', () => {
    assert.deepEqual(messages('listCertificates', { query: 'common_name=a', body: { common_name: 'b' } }), [
      "'common_name' in certificate list filter must not be given both in the query and in the body: leave one of them out",
    ])
    assert.deepEqual(messages('getInstances', { query: 'name=a', body: { name: 'b' } }), [
      'Identifiers in instance status arguments must not be given both in the query and in the body: leave one of them out',
    ])
  })
})
