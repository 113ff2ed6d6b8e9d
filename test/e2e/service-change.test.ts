import assert from 'node:assert/strict'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { linePort, publish, webPort } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const limitMs = 20_000
const otherPort = 7_001

describe('a change of a service that is served', function () {
  let stack: Stack
  let names: PublicNames
  let web: Published
  let service: string
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    web = await publish(stack, 'changing')
    service = (await stack.api.one('getInstances', { object: 'changing' })).service_group!.uuid
  })
  after(() => names?.close())

  const change = (body: object) => stack.api.one('updateServices', { object: service, body })
  const status = async (host: string) => (await names.get(`https://${host}/count`)).status

  it('reaches the gateway while the instance goes on', async () => {
    const { start_count: starts } = await stack.api.one('getInstances', { object: 'changing' })
    assert.equal(await status(web.host), 200)
    await change({
      add: {
        domains: [{ name: 'changing-too' }],
        services: [{ port: otherPort, destination_port: linePort }],
      },
    })
    const added = web.host.replace('changing', 'changing-too')
    await until('the new name is served', async () => (await status(added)) === 200, { limitMs })
    const socket = await until(
      'the new port is served',
      () => names.connect(added, otherPort).catch(() => false as const),
      { limitMs },
    )
    socket.destroy()
    await change({ del: { domains: ['changing'], services: [otherPort] } })
    await until('the old name is gone', async () => (await status(web.host).catch(() => 404)) === 404, {
      limitMs,
    })
    assert.equal(await status(added), 200)
    await change({ add: { services: [{ port: 443, destination_port: webPort + 1 }] } })
    await until('requests go to another port', async () => (await status(added)) === 502, { limitMs })
    await change({ add: { services: [{ port: 443, destination_port: webPort }] } })
    await until('requests go to the first port again', async () => (await status(added)) === 200, { limitMs })
    assert.equal((await stack.api.one('getInstances', { object: 'changing' })).start_count, starts)
  })
})
