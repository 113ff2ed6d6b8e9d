import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { keptFiles, wires } from '../../src/domain/protocols.ts'
import type { NameLine, RouteLine } from '../../src/domain/service/route-feed.ts'
import { trafficUpgrade } from '../../src/domain/standby/lease-protocol.ts'
import { hostMessage } from '../../src/gateway/hosts/host-messages.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import { PrivateNames } from '../../src/host/dns/private-names.ts'
import { readControlSettings } from '../../src/launch/host/told-settings.ts'
import { jsonLine } from '../../src/primitives/json-lines.ts'
import { answersOf, startAgent } from './agent-server.ts'
import { fileReaders } from './file-readers.ts'
import { asToday, recordingsOf } from './recording.ts'
import type { Reader } from './recording.ts'
import { wireReaders } from './wire-readers.ts'

const novelty = { kind: 'novelty', novelty: { uuid: 'x' } }
const snapshot = [
  { kind: 'begin', snapshot: true },
  novelty,
  { kind: 'gone', what: 'novelty', id: 'x' },
  { kind: 'end', revision: 'r1' },
] as const

describe('what a later version says', () => {
  it('in a line of a new kind is left out by gateways and hosts', () => {
    assert.equal(hostMessage(novelty), undefined)
    const routes = new RouteTable()
    const names = new PrivateNames()
    for (const line of snapshot) {
      routes.apply(line as RouteLine)
      names.apply(line as NameLine)
    }
    assert.equal(routes.revision, 'r1')
    assert.equal(names.revision, 'r1')
    assert.deepEqual(names.all(), [])
  })

  it('in a line of a new kind does not cut its gateway off', async () => {
    const agent = await startAgent(answersOf(() => undefined))
    const headers = {
      connection: 'Upgrade',
      upgrade: trafficUpgrade,
      authorization: `Bearer ${agent.trafficSecret}`,
    }
    const asked = request(`${agent.url}/traffic`, { headers }).end()
    const [, socket] = (await once(asked, 'upgrade')) as [IncomingMessage, Socket]
    socket.write(jsonLine(novelty) + jsonLine({ kind: 'hello', gatewayId: 'g', held: [] }))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.deepEqual(JSON.parse(answer.toString()), { kind: 'welcome', nodeId: 'h1' })
    socket.destroy()
    agent.close()
  })

  it('of keys that are not known here names no file', () => {
    const keys = { 'secret.key': 'k', '../../etc/passwd': 'x', 'later.key': 'y' }
    assert.deepEqual(readControlSettings({ settings: {}, keys }), {
      settings: {},
      keys: { 'secret.key': 'k' },
    })
    assert.equal(readControlSettings({ settings: {}, keys: { 'secret.key': 7 } }), undefined)
  })
})

describe('a record of a later version', () => {
  let directory: string
  beforeEach(async () => (directory = await mkdtemp(path.join(tmpdir(), 'roost-protocols-'))))
  afterEach(async () => await rm(directory, { recursive: true, force: true }))

  const files = {
    instanceRecord: 'version',
    launchCopy: 'version',
    vmRecord: 'schemaVersion',
    snapshotRecord: 'schemaVersion',
  } as const satisfies Partial<Record<keyof typeof keptFiles, string>>

  async function read(row: string, reader: Reader, changes: object): Promise<unknown> {
    const [recorded] = recordingsOf(row)
    const message = { ...(recorded!.message as object), ...changes }
    return asToday(await reader({ ...recorded!, message }, directory))
  }

  for (const [name, field] of Object.entries(files) as [keyof typeof files, string][]) {
    const { version, what } = keptFiles[name]

    it(`is understood if it is ${what} of the next version, and not of the one after it`, async () => {
      const today = await read(name, fileReaders[name], {})
      const next = (await read(name, fileReaders[name], { [field]: version + 1 })) as object
      // Who goes on with a record writes it in its own version. The others are only read.
      const kept = name === 'instanceRecord' || !(field in next) ? {} : { [field]: version + 1 }
      assert.deepEqual(next, { ...(today as object), ...kept })
      assert.equal(await read(name, fileReaders[name], { [field]: version + 2 }), undefined)
    })
  }

  it('that moves between hosts is understood if it is of the next version, and not of the one after it', async () => {
    const { version } = wires.moves
    await read('moves', wireReaders.moves, { version: version + 1 })
    await assert.rejects(async () => await read('moves', wireReaders.moves, { version: version + 2 }), {
      message: 'what host h1 has can not be used: it is of another version',
    })
  })
})
