import { strict as assert } from 'node:assert'
import { asHostsAddress, SettingError } from '../../../src/settings/setting-formats.ts'

describe('the address at which other machines reach the control plane', () => {
  const read = (text: string) => asHostsAddress(text, 'ROOST_HOSTS_ADDRESS')

  it('has a host and perhaps a port', () => {
    const table = {
      '192.0.2.10': { host: '192.0.2.10', port: 7075 },
      '192.0.2.10:7443': { host: '192.0.2.10', port: 7443 },
      'roost.example.com': { host: 'roost.example.com', port: 7075 },
      'roost.example.com:80': { host: 'roost.example.com', port: 80 },
      localhost: { host: 'localhost', port: 7075 },
      '2001:db8::1': { host: '2001:db8::1', port: 7075 },
      '::1': { host: '::1', port: 7075 },
      '[2001:db8::1]': { host: '2001:db8::1', port: 7075 },
      '[2001:db8::1]:7443': { host: '2001:db8::1', port: 7443 },
      'host-1:65535': { host: 'host-1', port: 65_535 },
    }
    for (const [text, address] of Object.entries(table)) assert.deepEqual(read(text), address, text)
  })

  it('is nothing else', () => {
    const refused = [
      '',
      ' ',
      ':7443',
      '192.0.2.10:',
      '192.0.2.10:0',
      '192.0.2.10:65536',
      '192.0.2.10:7443/',
      '192.0.2.10/24',
      'https://192.0.2.10',
      'user@192.0.2.10',
      'user:word@192.0.2.10:1',
      'a b',
      '192.0.2.10 ',
      '192.0.2.10:70 75',
      '192.0.2.10?x',
      '192.0.2.10#x',
      '[2001:db8::1',
      '2001:db8::1]:7443',
      '[192.0.2.10]:7443',
      '2001:db8::1::2',
      'a\\b',
      '%41',
      '192.0.2.10,192.0.2.11',
    ]
    for (const text of refused) assert.throws(() => read(text), SettingError, JSON.stringify(text))
  })

  it('is told with what is expected', () => {
    assert.throws(() => read('https://x'), {
      message:
        "ROOST_HOSTS_ADDRESS is 'https://x'; write the address at which other machines reach this one, such as " +
        '192.0.2.10 or roost.example.com:7443',
    })
  })
})
