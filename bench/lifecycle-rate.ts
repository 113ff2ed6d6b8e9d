import { createApiClient } from '../test/support/api-client.ts'
import type { Stack } from '../test/support/stack.ts'
import type { Section } from './report.ts'
import { seedAccount } from './seed.ts'

const instances = 200
const atOnce = 16
const waitMs = 60_000

/** Measures how many lifecycles the control plane carries out if starting a VM costs nothing. */
export async function benchLifecycle(stack: Stack, image: string): Promise<Section> {
  const { tokens } = await seedAccount(stack, { name: 'mover', image, instances: 0, tokens: 1 })
  const api = createApiClient({ url: stack.apiUrl, token: tokens[0] ?? '' })
  const names = Array.from({ length: instances }, (_, index) => `move-${'abcdefghij'[index % 10]}${index}`)
  const each = async (what: string, work: (name: string) => Promise<unknown>) => {
    const startedMs = performance.now()
    const waiting = [...names]
    const lane = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await work(name)
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    const perSecond = (instances * 1000) / (performance.now() - startedMs)
    return { what, figure: `${perSecond.toFixed(0).padStart(5)}/s` }
  }
  const findings = [
    await each('create until running (aim 40/s)', (name) =>
      api.one('createInstances', {
        body: { name, image: 'hello', autostart: true, wait_timeout_ms: waitMs },
      }),
    ),
    await each('stop until stopped', async (name) => {
      await api.one('stopInstances', { object: name })
      await api.one('waitInstances', { object: name, body: { state: 'stopped', timeout_ms: waitMs } })
    }),
    await each('start until running', (name) =>
      api.one('startInstances', { object: name, body: { wait_timeout_ms: waitMs } }),
    ),
    await each('delete', (name) => api.one('deleteInstances', { object: name })),
  ]
  await api.close()
  return { title: `lifecycle with the fake VMM, ${instances} instances, ${atOnce} at once`, findings }
}
