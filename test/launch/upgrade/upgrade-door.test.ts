import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { askForUpgrade, openUpgradeDoor, upgradeSocket } from '../../../src/launch/upgrade/upgrade-door.ts'
import type { UpgradeDoor } from '../../../src/launch/upgrade/upgrade-door.ts'

type Upgrade = Parameters<typeof openUpgradeDoor>[1]

describe('the door for upgrades', () => {
  let directory: string
  let door: UpgradeDoor | undefined
  let said: string[]

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-door-'))
    door = undefined
    said = []
  })
  afterEach(async () => {
    await door?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const open = async (upgrade: Upgrade): Promise<void> =>
    void (door = await openUpgradeDoor(directory, upgrade))
  const ask = async (checkout: string) => await askForUpgrade(directory, checkout, (text) => said.push(text))

  it('passes on which directory was named, each step, and the version that runs then', async () => {
    await open(async (checkout, say) => {
      say('one')
      say('two')
      return `that of ${checkout}`
    })
    assert.deepEqual(await ask('/next'), { kind: 'done', version: 'that of /next' })
    assert.deepEqual(said, ['one', 'two'])
  })

  it('tells why an upgrade failed, and takes the next one', async () => {
    await open(async (checkout) => await Promise.reject(new Error(`${checkout} is not set up`)))
    assert.deepEqual(await ask('/a'), { kind: 'failed', why: '/a is not set up' })
    assert.deepEqual(await ask('/b'), { kind: 'failed', why: '/b is not set up' })
  })

  it('refuses a second upgrade while one is under way', async () => {
    const first = Promise.withResolvers<string>()
    await open(async () => await first.promise)
    const asked = ask('/a')
    while (((await ask('/b')) as { why?: string } | undefined)?.why !== 'another upgrade is under way');
    first.resolve('2')
    assert.deepEqual(await asked, { kind: 'done', version: '2' })
  })

  it('belongs to its user alone', async () => {
    await open(async () => '2')
    assert.equal(statSync(upgradeSocket(directory)).mode & 0o777, 0o600)
  })

  it('is found closed where nobody runs, or where somebody died', async () => {
    assert.equal(await ask('/a'), undefined)
    await open(async () => '2')
    await door?.close()
    door = undefined
    assert.equal(await ask('/a'), undefined)
    await open(async () => '2')
    assert.deepEqual(await ask('/a'), { kind: 'done', version: '2' })
  })

  it('closes for whoever says something else', async () => {
    await open(async () => '2')
    for (const words of ['hello\n', '{"checkout":1}\n', `${'x'.repeat(100_000)}\n`]) {
      const socket = createConnection(upgradeSocket(directory))
      socket.on('error', () => undefined).end(words)
      socket.resume()
      await once(socket, 'close')
    }
    assert.deepEqual(await ask('/a'), { kind: 'done', version: '2' })
  })
})
