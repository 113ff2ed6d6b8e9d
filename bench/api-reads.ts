import type { Stack } from '../test/support/stack.ts'
import { measureLoad } from './load.ts'
import type { LoadResult } from './load.ts'
import { inMs } from './report.ts'
import type { Section } from './report.ts'
import { seedAccount } from './seed.ts'

const instances = 10_000
const connections = 8
const warmUpRequests = 500

/** Measures reads while the account has 10 000 instances. Client and server share the machine's cores. */
export async function benchReads(stack: Stack, image: string): Promise<Section> {
  const account = await seedAccount(stack, { name: 'reader', image, instances, tokens: 32 })
  const load = async (requests: number, path: (index: number) => string): Promise<LoadResult> => {
    const base = { url: stack.apiUrl, tokens: account.tokens, connections, path }
    await measureLoad({ ...base, requests: Math.min(warmUpRequests, requests) })
    return measureLoad({ ...base, requests })
  }
  const byUuid = await load(6_000, (index) => {
    return `/v1/instances/${account.uuids[(index * 7_919) % instances]}`
  })
  const page = await load(3_000, () => '/v1/instances/list?count=100')
  const stopped = await load(40, () => '/v1/instances/list?state=stopped')
  const all = await load(40, () => '/v1/instances/list')
  return {
    title: `API reads with ${instances} instances, ${connections} connections`,
    findings: [
      { what: 'get by uuid', figure: describe(byUuid) },
      { what: 'list, a page of 100', figure: describe(page) },
      { what: 'list, all by state', figure: describe(stopped) },
      { what: 'list, all', figure: describe(all) },
      {
        what: 'one list of all costs',
        figure: `${(byUuid.perSecond / all.perSecond).toFixed(0)} gets by uuid`,
      },
    ],
  }
}

function describe({ perSecond, p50Ms, p99Ms }: LoadResult): string {
  return `${perSecond.toFixed(0).padStart(6)}/s   p50 ${inMs(p50Ms)}, p99 ${inMs(p99Ms)}`
}
