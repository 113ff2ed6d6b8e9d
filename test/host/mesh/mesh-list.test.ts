import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MeshKey } from '../../../src/host/mesh/mesh-key.ts'
import { checkMachines } from '../../../src/host/mesh/mesh-machine.ts'
import type { MeshMachine } from '../../../src/domain/host/mesh.ts'
import { parseDump, peerChanges } from '../../../src/host/mesh/wireguard-peers.ts'

const key = (number: number): string => Buffer.alloc(32, number).toString('base64')
const machine = (number: number, changes: Partial<MeshMachine> = {}): MeshMachine => ({
  address: `10.64.${String(number * 16)}.1`,
  publicKey: key(number),
  endpoint: `192.0.2.${String(number)}:51820`,
  networks: [`10.64.${String(number * 16)}.0/20`],
  ...changes,
})

describe('a list of the machines of a mesh', () => {
  it('may have an address of one machine in the network of another, and endpoints of both families', () => {
    checkMachines([
      machine(1),
      machine(2, { networks: ['10.64.32.0/20', '10.64.16.9/32'], endpoint: '[2001:db8::2]:4' }),
    ])
  })

  const wrong: Readonly<Record<string, readonly [Partial<MeshMachine>, RegExp]>> = {
    'an address that is none': [{ address: '10.64.16' }, /'10.64.16' is not the IPv4 address/],
    'a key that is too short': [{ publicKey: 'AAAA' }, /must be 32 bytes in base64, not 'AAAA'/],
    'a key that another machine has': [
      { publicKey: key(2) },
      /belongs to two machines .*32.1 and 10.64.16.1/,
    ],
    'an endpoint with a name': [{ endpoint: 'a.example:51820' }, /must be an IP address and a port/],
    'an endpoint without a port': [{ endpoint: '192.0.2.1' }, /must be an IP address and a port/],
    'an endpoint with a port that is too high': [{ endpoint: '192.0.2.1:65536' }, /IP address and a port/],
    'an endpoint inside the mesh': [{ endpoint: '10.64.33.5:51820' }, /is in 10.64.32.0\/20, which is a net/],
    'a network with bits behind its length': [{ networks: ['10.64.17.0/20'] }, /is not an IPv4 network/],
    'an endpoint that is an address inside the mesh': [
      { endpoint: '198.51.100.7:51820', networks: ['198.51.100.7/32'] },
      /is in 198.51.100.7\/32, which is a net/,
    ],
    'more networks than a machine can have': [
      { networks: Array.from({ length: 5_001 }, (_, index) => `10.65.${index >> 8}.${index & 255}/32`) },
      /has 5000 networks at most, and 5001 were given for 10.64.16.1/,
    ],
    'an address that has moved to another machine, too': [
      { networks: ['10.64.16.0/20', '10.64.32.1/32'] },
      /belongs to two machines/,
    ],
    'a network that another machine has': [{ networks: ['10.64.32.0/20'] }, /belongs to two machines/],
  }
  for (const [title, [changes, message]] of Object.entries(wrong)) {
    it(`is refused with ${title}`, () => {
      assert.throws(() => checkMachines([machine(2), machine(1, changes)]), { name: 'MeshError', message })
    })
  }

  it('has a bound', () => {
    assert.throws(
      () => checkMachines(Array.from({ length: 2_049 }, () => machine(1))),
      /2048 machines at most/,
    )
  })
})

describe('the changes of the peers', () => {
  const nowMs = 1_000_000_000
  const peer = (number: number, changes: { readonly endpoint?: string; readonly agoS?: number } = {}) => {
    const { endpoint = `192.0.2.${String(number)}:51820`, agoS = 10 } = changes
    const ips = `10.64.${String(number * 16)}.1/32,10.64.${String(number * 16)}.0/20`
    return [key(number), '(none)', endpoint, ips, nowMs / 1_000 - agoS, 0, 0, 25].join('\t')
  }
  const state = (...peers: readonly string[]) =>
    parseDump([['private', key(9), 51_820, 'off'].join('\t'), ...peers, ''].join('\n'))
  const told = new Map([[key(1), '192.0.2.1:51820']])
  const changes = (peers: readonly string[], wanted: readonly MeshMachine[], before = told) =>
    peerChanges(state(...peers).peers, wanted, { told: before, nowMs }).map(({ what }) => what)

  it('are none if the peers are right', () => {
    assert.deepEqual(changes([peer(1), peer(2)], [machine(2), machine(1)]), [])
  })

  it('remove first', () => {
    assert.deepEqual(changes([peer(1)], [machine(2)]), [
      `removed the peer ${key(1)}`,
      `set the peer ${key(2)} of 10.64.32.1`,
    ])
  })

  it('are those of both machines when an address goes from one to the other', () => {
    const moved = machine(2, { networks: ['10.64.32.0/20', '10.64.16.9/32'] })
    assert.deepEqual(changes([peer(1), peer(2)], [machine(1), moved]), [
      `set the peer ${key(2)} of 10.64.32.1`,
    ])
    const before = peer(2).replace('10.64.32.1/32,', '10.64.16.9/32,10.64.32.1/32,')
    const other = machine(1, { networks: ['10.64.16.0/20', '10.64.16.9/32'] })
    assert.equal(changes([peer(1), before], [other, machine(2)]).length, 2)
  })

  it('leave a connected machine at the endpoint from which it sends', () => {
    const roamed = peer(1, { endpoint: '198.51.100.1:9' })
    assert.deepEqual(changes([roamed], [machine(1)]), [])
    const set = [`set the peer ${key(1)} of 10.64.16.1`]
    assert.deepEqual(changes([peer(1, { endpoint: '198.51.100.1:9', agoS: 200 })], [machine(1)]), set)
    assert.deepEqual(changes([roamed], [machine(1)], new Map()), set, 'nobody was told an endpoint yet')
    assert.deepEqual(changes([roamed], [machine(1, { endpoint: '192.0.2.77:1' })]), set, 'another is wanted')
  })

  it('hold no private key', () => {
    assert.equal(JSON.stringify(state(peer(1))).includes('private'), false)
  })
})

describe('the files of a mesh', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roost-mesh-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('have a key that stays until another one is asked for', async () => {
    const publicKey = await new MeshKey(directory).publicKey()
    assert.equal(await new MeshKey(directory).publicKey(), publicKey)
    const text = readFileSync(join(directory, 'mesh-key'), 'utf8')
    const renewed = await new MeshKey(directory).renew()
    assert.notEqual(renewed, publicKey)
    assert.equal(await new MeshKey(directory).publicKey(), renewed)
    assert.notEqual(readFileSync(join(directory, 'mesh-key'), 'utf8'), text)
  })
})
