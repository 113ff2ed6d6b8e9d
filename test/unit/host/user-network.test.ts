import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserNetwork } from '../../../src/host/network/user-network.ts'
import { nicOf } from '../../host/network/conformance.ts'

describe('the user-mode network', () => {
  let directory: string
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'roost-user-network-'))))
  afterEach(async () => await rm(directory, { recursive: true, force: true }))

  it('names the file of an instance’s forwards if the file is damaged', async () => {
    const network = new UserNetwork({ directory })
    await network.open()
    const nic = nicOf(2)
    const file = join(directory, 'user-network', `${nic.instanceUuid}.json`)
    for (const text of ['', '[{"hostPort":1', '{}', '[{"hostPort":1}]', '[null]']) {
      await writeFile(file, text)
      await assert.rejects(network.reach(nic, 80), {
        name: 'DamagedForwards',
        message: `${file} holds no list of forwarded ports: stop the instance, and delete the file`,
      })
    }
    await network.detach(nic)
    assert.equal(await network.reach(nic, 80), undefined)
  })
})
