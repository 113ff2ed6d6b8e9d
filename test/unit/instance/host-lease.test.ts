import { strict as assert } from 'node:assert'
import { NodeUnavailable } from '../../../src/control/host-client.ts'
import { leaseReader } from '../../../src/explain/instance/host-lease.ts'

describe('the reader of leases for explanations', () => {
  it('asks a host that did not answer no more, and goes on asking the others', async () => {
    const asked: string[] = []
    const silences: string[] = []
    const readLease = leaseReader(
      {
        async readLease({ uuid, nodeId }) {
          asked.push(uuid)
          if (nodeId === 'attic') throw new NodeUnavailable('no answer')
          return undefined
        },
      },
      ({ message }) => silences.push(message),
    )
    for (const uuid of ['a', 'b']) {
      assert.equal(await readLease({ uuid, nodeId: 'attic' }), 'host attic does not answer')
    }
    assert.equal(await readLease({ uuid: 'c', nodeId: 'cellar' }), undefined)
    assert.deepEqual([asked, silences], [['a', 'c'], ['no answer']])
  })

  it('takes only silence for silence', async () => {
    const readLease = leaseReader({ readLease: () => Promise.reject(new TypeError('a defect')) })
    await assert.rejects(readLease({ uuid: 'a', nodeId: 'attic' }), TypeError)
  })
})
