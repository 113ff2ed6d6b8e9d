import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { createApiClient } from '../test/support/api-client.ts'
import type { ApiClient } from '../test/support/api-client.ts'
import { openPublicNames } from '../test/support/public-names.ts'
import { publish } from '../test/support/published-instance.ts'
import { roost } from '../test/support/roost-command.ts'
import type { Stack } from '../test/support/stack.ts'
import { quantile } from './load.ts'
import { experience } from './neighbours/good-neighbour.ts'
import type { Experience, GoodNeighbour } from './neighbours/good-neighbour.ts'
import type { HostileClientsInput, HostileClientsReport } from './neighbours/hostile-clients.ts'
import { sleeperCount, startHostileGuests } from './neighbours/hostile-guests.ts'
import { inMs } from './report.ts'
import type { Finding, Section } from './report.ts'

const hostileName = 'hostile'
const phaseMs = 45_000
const settleMs = 5_000
/** How long the hostile instances may take to start. After this time most of them run or were refused. */
const beginningMs = 60_000
const clientsLimitMs = 300_000
const aimedRatio = 2
const asleepAtOnce = { policy: 'on', cooldown_time_ms: 200, stateful: true }

/**
 * Measures what a user with everyday work notices while a hostile user works at full force, against the same
 * without the hostile user.
 */
export async function benchNeighbours(stack: Stack): Promise<Section> {
  const names = openPublicNames(stack)
  try {
    const neighbour = { stack, names, ...(await publishGood(stack)) }
    await delay(settleMs)
    const quiet = await experience(neighbour, phaseMs)
    const attack = await beginAttack(stack)
    const [attacked, told] = await underAttack(neighbour, attack)
    return {
      title: 'a hostile user beside one that serves 50 requests/s, starts and wakes: quiet / attacked',
      findings: [
        ...compared('request', quiet.requestsMs, attacked.requestsMs),
        ...compared('read of the API', quiet.readsMs, attacked.readsMs),
        ...compared('start', quiet.startsMs, attacked.startsMs),
        ...compared('wake, stateful', quiet.wakesMs, attacked.wakesMs),
        failuresOf('quiet', quiet),
        { ...failuresOf('attacked', attacked), aim: 'none' },
        ...told,
        {
          what: 'load of the machine at the end',
          figure: loadavg()
            .map((one) => one.toFixed(1))
            .join(' '),
        },
      ],
    }
  } finally {
    await names.close()
  }
}

async function publishGood(stack: Stack): Promise<Pick<GoodNeighbour, 'serving' | 'sleeping'>> {
  const serving = await publish(stack, 'serving')
  return { serving, sleeping: await publish(stack, 'sleeping', { scale_to_zero: asleepAtOnce }) }
}

interface Attack {
  readonly api: ApiClient
  readonly guests: Awaited<ReturnType<typeof startHostileGuests>>
  readonly clients: { readonly end: () => Promise<HostileClientsReport | undefined> }
}

async function beginAttack(stack: Stack): Promise<Attack> {
  await roost(stack, 'user', 'create', hostileName)
  const token = (await roost(stack, 'token', 'create', hostileName)).stdout.trim()
  const api = createApiClient({ url: stack.apiUrl, token })
  const hostile = { ...stack, api }
  const sleeperHosts: string[] = []
  for (let index = 0; index < sleeperCount; index++) {
    const name = `sleeper-${String.fromCodePoint(97 + index)}`
    sleeperHosts.push((await publish(hostile, name, { scale_to_zero: asleepAtOnce })).host)
  }
  const guests = await startHostileGuests(api)
  const clients = startClients({
    apiUrl: stack.apiUrl,
    registryUrl: `http://${stack.registry}`,
    token,
    userName: hostileName,
    sleeperHosts,
    limitMs: clientsLimitMs,
  })
  return { api, guests, clients }
}

/**
 * Starts the clients of the hostile user. In reality they run on other machines, so here they only get the
 * processor time that is left over. Some kernels share processors between sessions first, so the clients
 * have a session of their own, which is nice too.
 */
function startClients(input: HostileClientsInput): Attack['clients'] {
  const program = path.resolve(import.meta.dirname, 'neighbours/hostile-clients.ts')
  const child = spawn('nice', ['-n', '19', process.execPath, program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  if (child.pid !== undefined && existsSync('/proc/self/autogroup')) {
    writeFileSync(`/proc/${child.pid}/autogroup`, '19')
  }
  child.stdin.write(`${JSON.stringify(input)}\n`)
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += String(chunk)))
  return {
    async end() {
      child.stdin.end()
      await once(child, 'close')
      return said === '' ? undefined : (JSON.parse(said) as HostileClientsReport)
    },
  }
}

async function underAttack(
  neighbour: GoodNeighbour,
  { api, guests, clients }: Attack,
): Promise<readonly [Experience, readonly Finding[]]> {
  await delay(beginningMs)
  const attacked = await experience(neighbour, phaseMs)
  const report = await clients.end()
  const running = (await api.call('listInstances', { body: [{ state: 'running' }] })).length
  await api.close()
  const { asked, refusals } = guests
  const findings = [
    { what: 'hostile instances that run', figure: `${running} of ${asked}` },
    ...refusals.map((text) => ({ what: 'refused', figure: text })),
    ...(report === undefined
      ? []
      : [
          {
            what: 'hostile connections',
            figure: `${report.connectionsOpened} opened, ${report.connectionsEnded} ended`,
          },
          { what: 'hostile wakes asked for', figure: `${report.wakesAsked}` },
          {
            what: 'hostile pushes',
            figure: `${report.pushedMb} MB${report.pushRefusal === undefined ? '' : `, then: ${report.pushRefusal}`}`,
          },
        ]),
  ]
  return [attacked, findings]
}

function compared(what: string, quiet: readonly number[], attacked: readonly number[]): readonly Finding[] {
  return [0.5, 0.99].map((share) => {
    const [before, beside] = [quantile(quiet, share), quantile(attacked, share)]
    return {
      what: `${what}, ${share === 0.5 ? 'median' : 'p99'} (${quiet.length} / ${attacked.length})`,
      figure: `${inMs(before)} / ${inMs(beside)}: ${(beside / before).toFixed(1)} times`,
      ...(share === 0.99 ? { aim: `at most ${aimedRatio}` } : {}),
    }
  })
}

function failuresOf(phase: string, { failures, failed }: Experience): Finding {
  const [first] = failures
  return {
    what: `failures, ${phase}`,
    figure: first === undefined ? 'none' : `${failed}, such as ${first}`,
  }
}
