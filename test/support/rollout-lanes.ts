import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { isDeepStrictEqual, promisify } from 'node:util'
import { waitFor } from './instances.ts'
import type { PublicNames } from './public-names.ts'
import type { Stack } from './stack.ts'
import { until } from './until.ts'
import { version } from './versioned-service.ts'

const run = promisify(execFile)

/** A service with one instance, for which a test makes one rollout after the other. */
export interface Lane {
  readonly name: string
  readonly service: string
  readonly host: string
  readonly hasVolume: boolean
}

const publicPort = 443
/** A port of raw TLS. */
const relayedPort = 8443
const applicationPort = 8080
const limitMs = 120_000
const volumeMb = 16

/**
 * A check of a port that leads nowhere until the gate with its name is open. So a test says how long
 * instances come up.
 */
export function checkAt(gate: Gate) {
  return { port: gatePorts[gate], interval_ms: 200 }
}

export type Gate = keyof typeof gatePorts

const gatePorts = { first: 9_998, second: 9_999 }
const gateTable = 'roost_test_gate'

/** Opens these gates and closes the others. Hosts make their checks from the test's network namespace. */
export async function openGates(...gates: readonly Gate[]): Promise<void> {
  const table = `table ip ${gateTable}`
  const rules = gates.map((gate) => `tcp dport ${gatePorts[gate]} dnat to :${applicationPort};`).join(' ')
  const chain = `chain output { type nat hook output priority -100; ${rules} }`
  await run('nft', [[`${table} {}`, `delete ${table}`, `${table} {`, chain, '}'].join('\n')])
}

export async function removeGates(): Promise<void> {
  await run('nft', ['delete', 'table', 'ip', gateTable])
}

export async function openLane(stack: Stack, name: string, hasVolume: boolean): Promise<Lane> {
  const service = await stack.api.one('createServices', {
    body: {
      name,
      services: [
        { port: publicPort, destination_port: applicationPort, handlers: ['http', 'tls'] },
        { port: relayedPort, destination_port: applicationPort, handlers: ['tls'] },
      ],
      domains: [{ name }],
    },
  })
  const host = service.domains[0]?.fqdn
  assert.ok(host !== undefined, `${name} has a public name`)
  const { uuid } = await stack.api.one('createInstances', {
    body: {
      name,
      image: 'hello',
      env: version.good('0'),
      memory_mb: 128,
      autostart: true,
      service_group: { uuid: service.uuid },
      ...(hasVolume && { volumes: [{ size_mb: volumeMb, at: '/data' }] }),
    },
  })
  await waitFor(stack.api, uuid, 'running', limitMs)
  return { name, service: service.uuid, host, hasVolume }
}

type Wishes = Readonly<Record<string, unknown>>

/** Begins to bring in a version that answers with its name. */
export async function beginRollout(stack: Stack, lane: Lane, next: string, wishes: Wishes): Promise<void> {
  const body = { env: version.good(next), keep_s: 600, ...wishes }
  await stack.api.one('createRollouts', { object: lane.service, body })
}

/** The newest rollout of a lane; undefined while the API can not tell, because its database was killed. */
export async function newestOf(stack: Stack, lane: Lane) {
  const answer = await stack.api.attempt('getRollouts', { object: lane.service }).catch(() => undefined)
  const [entry] = answer?.entries ?? []
  return entry !== undefined && 'rollouts' in entry ? entry.rollouts[0] : undefined
}

export async function untilPhase(stack: Stack, lane: Lane, ...phases: readonly string[]) {
  let seen: Awaited<ReturnType<typeof newestOf>>
  try {
    return await until(
      'the phase',
      async () => {
        seen = await newestOf(stack, lane)
        return seen !== undefined && phases.includes(seen.phase) && seen
      },
      { limitMs },
    )
  } catch (cause) {
    const is = `${seen?.phase}, since ${seen?.since}, ${seen?.reason}`
    throw new Error(`the rollout of ${lane.name} is to be ${phases.join(' or ')}, and is ${is}`, { cause })
  }
}

/** All instances of a lane, those among them that a rollout made or keeps. */
export async function instancesOf(stack: Stack, lane: Lane) {
  const all = await stack.api.call('getInstances', { query: { details: 'true' } })
  return all.filter(({ name }) => name === lane.name || name.startsWith(`${lane.name}-`))
}

/**
 * Waits until nothing is left that does not belong to a lane after its rollout: the instance that serves,
 * under the lane's name, and the old version if that is kept.
 */
export async function untilTidy(stack: Stack, lane: Lane, phase: 'kept' | 'returned'): Promise<void> {
  const wanted = phase === 'kept' ? ['running', 'stopped'] : ['running']
  let seen = ''
  try {
    await until(
      'it is tidy',
      async () => {
        const found = await instancesOf(stack, lane).catch(() => [])
        const serving = found.filter(({ service_group: group }) => group?.uuid === lane.service)
        const [first] = serving
        seen = JSON.stringify(found.map(({ name, state, rollout, uuid }) => ({ name, state, rollout, uuid })))
        return (
          serving.length === 1 &&
          first?.name === lane.name &&
          first.rollout === undefined &&
          isDeepStrictEqual(new Set(found.map(({ state }) => state)), new Set(wanted)) &&
          found.length === wanted.length
        )
      },
      { limitMs },
    )
  } catch (cause) {
    throw new Error(`${lane.name} is not as it is to be after ${phase}: ${seen}`, { cause })
  }
  const found = await instancesOf(stack, lane)
  assert.deepEqual(
    found.filter(({ name }) => name === lane.name).length,
    1,
    `one instance is called ${lane.name}`,
  )
  const volumes = found.flatMap(({ volumes: has = [] }) => has)
  assert.equal(volumes.length, lane.hasVolume ? 1 : 0, `${lane.name} has its volume once`)
}

/**
 * Opens a connection over which nothing is asked yet. The gateway relays it to the version that serves now,
 * which drains until it ends.
 */
export async function openConnection(names: PublicNames, { host }: Lane): Promise<TLSSocket> {
  const socket = await names.connect(host, relayedPort)
  // Who asks over it hears of its end.
  return socket.on('error', () => undefined)
}

/** Asks over a connection, and returns the version that answers. */
export async function askOver(socket: TLSSocket): Promise<string> {
  socket.write('GET / HTTP/1.0\r\n\r\n')
  const answer = await text(socket)
  return answer.split('\r\n\r\n')[1]?.trim() ?? ''
}
