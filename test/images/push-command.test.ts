import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { writeOciLayout } from '../../samples/oci-layout.ts'
import { startTestRegistry } from '../support/registry.ts'
import type { TestRegistry } from '../support/registry.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'

describe('roost push', () => {
  let registry: TestRegistry
  let roost: RoostProgram
  let layout: string
  before(async () => {
    registry = await startTestRegistry()
    const token = Buffer.from('ann:ann-secret').toString('base64')
    roost = await createRoostProgram({ url: new URL(registry.tokenUrl).origin, token })
    layout = path.join(roost.home, 'layout')
    await mkdir(layout)
    const files = [{ path: 'app', content: Buffer.from('content') }]
    await writeOciLayout(layout, [{ name: 'one', files, config: { Cmd: ['one'] } }])
  })
  after(async () => {
    await roost.remove()
    await registry.close()
  })

  it('puts an OCI layout into the registry under the name of the token’s user', async () => {
    const pushed = await roost.run(['push', layout, 'app:v1', '--registry', registry.url, '-o', 'json'])
    assert.equal(pushed.code, 0, pushed.err)
    const { reference, digest } = JSON.parse(pushed.out)
    assert.equal(reference, 'ann/app:v1')
    assert.equal(await registry.client.digestOf('ann/app', 'v1'), digest)
  })

  it('says what is wrong with the source and the name', async () => {
    const missing = await roost.run(['push', `${layout}-2`, 'app:v1', '--registry', registry.url])
    assert.equal(missing.code, 1)
    assert.match(missing.err, /^roost: .*layout-2/)
    const foreign = await roost.run(['push', layout, 'bob/app:v1', '--registry', registry.url])
    assert.equal(foreign.code, 1)
    assert.match(foreign.err, /^roost: /)
  })
})
