import assert from 'node:assert/strict'
import { scopeOf } from '../../src/acme/address-scope.ts'
import type { AddressScope } from '../../src/domain/certificate/attempt-report.ts'

const addresses: Readonly<Record<AddressScope, string>> = {
  public:
    '1.1.1.1 8.8.8.8 168.63.129.15 168.63.129.17 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.1 11.0.0.1 223.255.255.255 2606:4700::1 2a00::1',
  internal:
    '127.0.0.1 127.255.255.255 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 192.0.0.1 198.18.0.1 198.19.255.255 100.64.0.1 100.127.255.255 ::1 fd00::1 fc00::1 fd00:ec2::254 64:ff9b::a00:1 64:ff9b:1::a00:1',
  never:
    '0.0.0.0 0.1.2.3 168.63.129.16 169.254.169.254 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 :: fe80::1 febf::1 ff02::1 ::ffff:127.0.0.1 ::ffff:a00:1 ::ffff:8.8.8.8 ::7f00:1 2002:7f00:1:: 2001::1 2001:db8::1',
}

describe('an address that a name leads to', () => {
  for (const [scope, list] of Object.entries(addresses)) {
    for (const address of list.split(' ')) {
      it(`${address} is ${scope}`, () => assert.equal(scopeOf(address), scope))
    }
  }
})
