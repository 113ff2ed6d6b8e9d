import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  ProxyHeaderFault,
  maxProxyHeaderBytes,
  readProxyHeader,
} from '../../src/gateway/listeners/proxy-header.ts'
import { localCommand, proxyHeader } from '../support/proxy-header.ts'

const clientIn = (bytes: Buffer): string | undefined => {
  const reading = readProxyHeader(bytes)
  assert(reading.kind === 'header', reading.kind)
  assert.equal(reading.bytes, bytes.length)
  return reading.client
}

const faultIn = (bytes: Buffer): string | undefined => {
  const reading = readProxyHeader(bytes)
  return reading.kind === 'faulty' ? reading.fault : undefined
}

describe('the PROXY header', () => {
  it('gives the address of a client of IPv4 or IPv6, as a socket would show it', () => {
    assert.equal(clientIn(proxyHeader({ client: '198.51.100.255' })), '198.51.100.255')
    assert.equal(clientIn(proxyHeader({ client: '2001:db8:0:0:0:0:0:7' })), '2001:db8::7')
    assert.equal(clientIn(proxyHeader({ client: '0:0:0:0:0:ffff:c633:6407' })), '198.51.100.7')
  })

  it('gives no address if the proxy speaks for itself or does not know its client', () => {
    assert.equal(clientIn(proxyHeader({ command: localCommand })), undefined)
    assert.equal(clientIn(proxyHeader({ command: localCommand, protocol: 0x77 })), undefined)
    assert.equal(clientIn(proxyHeader({ protocol: 0 })), undefined)
  })

  it('may have additions, which are skipped, up to a bound', () => {
    const additions = Buffer.alloc(maxProxyHeaderBytes - 12, 0xaa)
    assert.equal(clientIn(proxyHeader({ additions })), '203.0.113.7')
    assert.equal(faultIn(proxyHeader({ length: maxProxyHeaderBytes + 1 })), ProxyHeaderFault.TooLong)
    assert.equal(faultIn(proxyHeader({ command: localCommand, length: 0xffff })), ProxyHeaderFault.TooLong)
  })

  it('is awaited until it is complete, and what follows is left alone', () => {
    const whole = proxyHeader({ additions: Buffer.from([4, 0, 1, 0]) })
    for (let length = 0; length < whole.length; length++)
      assert.equal(readProxyHeader(whole.subarray(0, length)).kind, 'incomplete', String(length))
    const reading = readProxyHeader(Buffer.concat([whole, Buffer.from('GET / HTTP/1.1')]))
    assert.deepEqual(reading, { kind: 'header', bytes: whole.length, client: '203.0.113.7' })
  })

  it('is told from anything else by the first byte that differs', () => {
    for (const text of [
      'GET / HTTP/1.1',
      'G',
      'PR',
      'PROX/',
      '\r\n\r\n\0\r\nQUIT\r',
      '\r\nG',
      '\x16\x03\x01',
    ])
      assert.equal(
        readProxyHeader(Buffer.from(text, 'latin1')).kind,
        text === 'PR' ? 'incomplete' : 'none',
        text,
      )
  })

  it('is refused in its text form, and if a part of it is not known', () => {
    assert.equal(faultIn(Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n')), ProxyHeaderFault.TextForm)
    assert.equal(faultIn(proxyHeader({ version: 1 })), ProxyHeaderFault.Version)
    assert.equal(faultIn(proxyHeader({ version: 3 })), ProxyHeaderFault.Version)
    assert.equal(faultIn(proxyHeader({ command: 2 })), ProxyHeaderFault.Command)
    for (const protocol of [0x01, 0x10, 0x12, 0x22, 0x31, 0x41, 0xff])
      assert.equal(faultIn(proxyHeader({ protocol })), ProxyHeaderFault.Protocol)
    assert.equal(faultIn(proxyHeader({ length: 11 })), ProxyHeaderFault.TooShort)
    assert.equal(faultIn(proxyHeader({ protocol: 0x21 })), ProxyHeaderFault.TooShort)
  })

  it('does no harm, whatever bytes it has: nothing is read beyond the bytes or beyond its own length', () => {
    const base = fc.constantFrom(
      proxyHeader(),
      proxyHeader({ client: '2001:db8:0:0:0:0:0:7' }),
      proxyHeader({ command: localCommand, additions: Buffer.alloc(40) }),
      Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n'),
    )
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 })
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 80 }), fc.tuple(base, changes, fc.nat()).map(damaged))
    const after = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(bytes, after, (some, more) => {
        // The bytes lie within larger memory, so that reading beyond them would find something.
        const memory = Buffer.concat([Buffer.alloc(64, 0x11), some, more, Buffer.alloc(64, 0x11)])
        const reading = readProxyHeader(memory.subarray(64, 64 + some.length))
        if (reading.kind === 'incomplete') return
        if (reading.kind === 'header') {
          assert(reading.bytes >= 16 && reading.bytes <= Math.min(some.length, 16 + maxProxyHeaderBytes))
          const own = memory.subarray(64, 64 + reading.bytes)
          assert.deepEqual(readProxyHeader(own), reading)
          assert.equal(readProxyHeader(own.subarray(0, -1)).kind, 'incomplete')
        }
        // What was decided once is not changed by bytes that come later.
        assert.deepEqual(readProxyHeader(memory.subarray(64, 64 + some.length + more.length)), reading)
      }),
      { numRuns: 2_000 },
    )
  })
})

function damaged([base, changes, cut]: [Buffer, [number, number][], number]): Uint8Array {
  const bytes = Buffer.from(base)
  for (const [at, value] of changes) bytes[at % bytes.length] = value
  return bytes.subarray(0, cut % 3 === 0 ? cut % (bytes.length + 1) : bytes.length)
}
