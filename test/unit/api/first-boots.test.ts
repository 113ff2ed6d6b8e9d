import { strict as assert } from 'node:assert'
import { pino } from 'pino'
import { createFirstBoots, headStart } from '../../../src/api/instance/first-boots.ts'
import type { ApiDeps } from '../../../src/api/deps.ts'
import type { InstanceRow } from '../../../src/db/instance/row.ts'

describe('first boots that the API begins', () => {
  const call = { log: pino({ level: 'silent' }) }
  const row = (uuid: string, userUuid: string, state = 'starting') =>
    ({ uuid, userUuid, nodeId: 'local', state }) as InstanceRow

  function scene() {
    const begun = new Map<string, (up: boolean) => void>()
    const lookedAt: string[] = []
    const nodes = {
      beginFirstBoot: ({ uuid }: { readonly uuid: string }) =>
        new Promise<boolean>((resolve) => begun.set(uuid, resolve)),
    }
    const watch = { lookAgain: (uuid: string) => void lookedAt.push(uuid) }
    return { begun, lookedAt, begin: createFirstBoots({ nodes, watch } as unknown as ApiDeps) }
  }

  it('are bounded for each user and in all, and make room when they end', async () => {
    const { begun, begin } = scene()
    const users = ['a', 'b', 'c', 'd', 'e']
    for (const user of users)
      for (let index = 0; index < 10; index++) void begin(call, row(`${user}${index}`, user))
    assert.equal(begun.size, 32)
    assert.deepEqual([begun.has('a7'), begun.has('a8'), begun.has('e0')], [true, false, false])
    begun.get('a0')?.(true)
    await new Promise((resolve) => setImmediate(resolve))
    void begin(call, row('e0', 'e'))
    void begin(call, row('e1', 'e'))
    assert.deepEqual([begun.has('e0'), begun.has('e1')], [true, false])
  })

  it('make those who wait look again once the instance is up, and not before', async () => {
    const { begun, lookedAt, begin } = scene()
    void begin(call, row('up', 'a'))
    void begin(call, row('down', 'a'))
    await begin(call, row('stopped', 'a', 'stopped'))
    assert.deepEqual([...begun.keys()], ['up', 'down'])
    begun.get('down')?.(false)
    begun.get('up')?.(true)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(lookedAt, ['up'])
  })

  it('have a head start that ends with the last of them', async () => {
    const { begun, begin } = scene()
    const boots = [begin(call, row('quick', 'a')), begin(call, row('slow', 'a'))]
    let isOver = false
    const started = headStart(boots).then(() => (isOver = true))
    begun.get('quick')?.(true)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(isOver, false)
    begun.get('slow')?.(false)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(isOver, true)
    await started
  })

  it('have a head start of a moment, however long they take', async () => {
    const { begin } = scene()
    const startedMs = performance.now()
    await headStart([begin(call, row('hangs', 'a'))])
    assert.ok(performance.now() - startedMs > 20)
  })
})
