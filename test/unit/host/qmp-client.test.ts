import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { QmpClient } from '../../../src/host/vmm/qmp-client.ts'

describe('the client of a VMM’s monitor', () => {
  for (const [what, line] of [
    ['is not JSON', '{"return": {'],
    ['is no object', 'null'],
  ] as const) {
    it(`fails its commands with the line, if a line ${what}, and reads no more`, async () => {
      const [mine, vmm] = duplexPair()
      const client = new QmpClient(mine)
      const events: string[] = []
      client.on('event', (name) => events.push(name))
      const asked = client.execute('query-status')
      vmm.write(`{"event": "RESUME"}\n${line}\n{"event": "STOP"}\n{"id": 1, "return": {}}\n`)
      const fault = { name: 'QmpError', message: `the VMM sent a line that is no JSON object: ${line}` }
      await assert.rejects(asked, fault)
      assert.deepEqual(events, ['RESUME'])
      await assert.rejects(client.execute('cont'), ({ message, cause }: Error) => {
        assert.equal(message, "the VMM is gone; 'cont' can not be sent")
        return (cause as Error).name === 'QmpError'
      })
    })
  }

  it('shows only the beginning of a long line that is wrong', async () => {
    const [mine, vmm] = duplexPair()
    const asked = new QmpClient(mine).execute('query-status')
    vmm.write(`${'x'.repeat(200)}\n`)
    const message = `the VMM sent a line that is no JSON object: ${'x'.repeat(80)}`
    await assert.rejects(asked, { name: 'QmpError', message })
  })

  it('fails its commands if a line has no end, and says how long it may be', async () => {
    const [mine, vmm] = duplexPair()
    const asked = new QmpClient(mine).execute('query-status')
    vmm.write('x'.repeat((1 << 20) + 1))
    const message = 'the VMM sent a line of more than 1048576 bytes'
    await assert.rejects(asked, { name: 'QmpError', message })
  })
})
