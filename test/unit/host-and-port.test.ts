import assert from 'node:assert/strict'
import { hostAndPort, serverUrl } from '../../src/domain/host-and-port.ts'
import { readSettings } from '../../src/settings/settings.ts'

describe('a host with a port', () => {
  it('has brackets around an IPv6 address, and around nothing else', () => {
    assert.equal(hostAndPort({ host: '2001:db8::1', port: 7071 }), '[2001:db8::1]:7071')
    assert.equal(hostAndPort({ host: '192.0.2.1', port: 7071 }), '192.0.2.1:7071')
    assert.equal(hostAndPort({ host: 'roost.example.com', port: 7071 }), 'roost.example.com:7071')
  })

  it('makes a URL that leads there', () => {
    for (const host of ['2001:db8::1', '192.0.2.1', 'roost.example.com']) {
      const url = new URL(serverUrl('https', { host, port: 7071 }))
      assert.deepEqual(
        [url.protocol, url.hostname, url.port],
        ['https:', host.includes(':') ? `[${host}]` : host, '7071'],
      )
    }
  })

  it('is the address of an API that listens at an IPv6 address', () => {
    const { apiUrl } = readSettings({ ROOST_API_HOST: '::1', ROOST_API_PORT: '7000' })
    assert.equal(apiUrl, 'http://[::1]:7000')
  })
})
