import assert from 'node:assert/strict'
import { trustedProxies } from '../../src/gateway/clients/trusted-proxies.ts'

describe('trusted proxies', () => {
  const trusted = (networks: readonly string[], ...addresses: readonly string[]): readonly boolean[] =>
    addresses.map(trustedProxies(networks))

  it('are none by default', () => {
    assert.deepEqual(trusted([], '127.0.0.1', '::1'), [false, false])
  })

  it('are single addresses and whole networks', () => {
    const networks = ['10.0.0.5', '10.1.0.0/16', 'fd00::/8', '2001:db8::5']
    assert.deepEqual(trusted(networks, '10.0.0.5', '10.0.0.6', '10.1.255.255', '10.2.0.0'), [true, false, true, false]) // prettier-ignore
    assert.deepEqual(trusted(networks, 'fd12::1', 'fe80::1', '2001:db8:0:0::5', '2001:db8::6'), [true, false, true, false]) // prettier-ignore
  })

  it('are recognised however a socket shows their address', () => {
    assert.deepEqual(trusted(['10.0.0.5', 'fe80::/10'], '::ffff:10.0.0.5', 'fe80::1%eth0'), [true, true])
  })

  it('of all IPv6 are none of IPv4, and the other way round', () => {
    assert.deepEqual(trusted(['::/0'], '10.0.0.5', '::ffff:10.0.0.5', '::1'), [false, false, true])
    assert.deepEqual(trusted(['0.0.0.0/0'], '10.0.0.5', '::1'), [true, false])
  })

  it('do not include what is no address', () => {
    assert.deepEqual(trusted(['0.0.0.0/0', '::/0'], '', 'unknown', '10.0.0.5:80'), [false, false, false])
  })
})
