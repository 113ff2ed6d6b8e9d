import assert from 'node:assert/strict'
import { hostAndPort, readHostAndPort, serverUrl } from '../../src/domain/host-and-port.ts'
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

  it('is read as it was written, and the port may be missing', () => {
    const table = {
      '192.0.2.10': { host: '192.0.2.10', port: undefined },
      '192.0.2.10:1': { host: '192.0.2.10', port: 1 },
      'roost.example.com:65535': { host: 'roost.example.com', port: 65_535 },
      '2001:db8::1': { host: '2001:db8::1', port: undefined },
      '[2001:db8::1]': { host: '2001:db8::1', port: undefined },
      '[2001:0DB8:0::1]:7443': { host: '2001:db8::1', port: 7443 },
      '2001:db8::1:7443': { host: '2001:db8::1:7443', port: undefined },
    }
    for (const [text, read] of Object.entries(table)) assert.deepEqual(readHostAndPort(text), read, text)
  })

  it('is nothing else', () => {
    const refused = [
      '',
      ':7443',
      '192.0.2.10:',
      '192.0.2.10:0',
      '192.0.2.10:65536',
      '192.0.2.10:123456',
      '[192.0.2.10]:7443',
      '[2001:db8::1]7443',
      '[2001:db8::1',
      '[fe80::1%eth0]:1',
      'fe80::1%eth0',
      '2001:db8::1::2',
      'user@192.0.2.10',
      '192.0.2.10 ',
      'http://192.0.2.10',
    ]
    for (const text of refused) assert.equal(readHostAndPort(text), undefined, JSON.stringify(text))
  })
})
