import assert from 'node:assert/strict'
import { NodeUnavailable } from '../../../src/control/host-client.ts'
import { addNode } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { readRows } from '../../support/rows.ts'

describe('the history of usage of a service', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  const step = { rxBytes: 1, rxPackets: 1, txBytes: 1, txPackets: 1, handled: 2, wakes: 0, inFlightMs: 3 }
  const stepAt = (atMs: number) => ({ ...step, atMs, seenMs: 5_000, rssBytes: 7, cpuTimeMs: 8 })
  const inService = async (name: string) => {
    const body = { name, image: 'hello', service_group: { name: 'shop' } }
    return (await user.api.one('createInstances', { body })).uuid
  }
  beforeEach(async () => {
    delete api.nodes.fails
    user = await api.addUser()
    await user.api.one('createServices', { body: { name: 'shop', services: [{ port: 443 }] } })
  })

  it('is the sum over the hosts that have an instance of it', async () => {
    const { uuid } = await user.api.one('getServices', { object: 'shop' })
    const [first, second] = [await inService('a'), await inService('b')]
    const other = await addNode(api.database, { id: 'second' })
    await api.database.db.updateTable('instances').set({ nodeId: other }).where('uuid', '=', second).execute()
    const text = 'select node_id from instances where uuid = $1'
    const [row] = await readRows<{ node_id: string }>(api.database, { text, values: [first] })
    const host = row?.node_id ?? ''
    const nowMs = Math.floor(Date.now() / 5_000) * 5_000
    api.nodes.histories.set(`${host} ${uuid}`, [stepAt(nowMs - 5_000), stepAt(nowMs)])
    api.nodes.histories.set(`${other} ${uuid}`, [stepAt(nowMs)])
    api.nodes.calls.length = 0
    const { step: length, usage: steps } = await user.api.one('getServiceUsage', { object: 'shop' })
    assert.equal(length, '5s')
    assert.deepEqual(
      steps.map(({ seen_ms: seen, nrequests, rss_bytes: rss }) => [seen, nrequests, rss]),
      [
        [5_000, 2, 7],
        [10_000, 4, 14],
      ],
    )
    assert.deepEqual(
      api.nodes.calls.toSorted(),
      [host, other].map((node) => `history of a service on ${node} by 5s`).toSorted(),
    )
  })

  it('is empty without instances, and fails where a host does not answer', async () => {
    assert.deepEqual((await user.api.one('getServiceUsage', { object: 'shop' })).usage, [])
    await inService('a')
    api.nodes.fails = new NodeUnavailable('away')
    const { entries } = await user.api.attempt('getServiceUsage', { object: 'shop' })
    assert.partialDeepStrictEqual(entries, [{ name: 'shop', error: 10 }])
  })
})
