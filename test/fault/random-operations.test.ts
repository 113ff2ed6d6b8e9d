import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { OperationId } from '../../src/contract/operations.ts'
import { ciSeed } from '../support/ci-seed.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { virtualMachinesByInstance } from '../support/processes.ts'
import { linePort } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { addMember, cold, kept } from './fleet.ts'
import type { Member } from './fleet.ts'
import { watchVirtualMachines } from '../support/virtual-machine-watch.ts'
import type { VirtualMachineWatch } from '../support/virtual-machine-watch.ts'

/**
 * `ROOST_FAULT_SECONDS` sets how long the run lasts. `ROOST_FAULT_SEED` repeats a run, as far as the timing
 * of processes allows.
 */
const runMs = Number(process.env['ROOST_FAULT_SECONDS'] ?? 40) * 1_000
const seed = Number(process.env['ROOST_FAULT_SEED'] ?? ciSeed ?? Date.now() % 1_000_000)
const instances = 6
const clients = 4
const killEveryMs = 9_000
const settleLimitMs = 90_000
const parts = ['gateway', 'agent', 'worker', 'api', 'postgres', 'temporal'] as const
const allowedStatuses = new Set([200, 404, 503])

type Random = () => number
/** The random numbers of Mulberry32. They are good enough for choices, and the same on every machine. */
function randomOf(start: number): Random {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

describe(`random requests, starts, stops, deletes, creates and deaths (seed ${seed})`, function () {
  this.timeout(runMs + 2 * settleLimitMs + 60_000)
  let stack: Stack
  let names: PublicNames
  let watch: VirtualMachineWatch
  let made = 0
  const members: (Member | undefined)[] = []
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    watch = watchVirtualMachines(stack.dataDir)
    for (let slot = 0; slot < instances; slot++) members[slot] = await create(slot)
  })
  after(async () => {
    await watch?.close()
    await names?.close()
    const left = members.flatMap((member) => (member === undefined ? [] : [{ uuid: member.uuid }]))
    if (left.length > 0) await stack.api.call('deleteInstances', { body: left })
  })

  async function create(slot: number): Promise<Member> {
    const scaleToZero = slot % 2 === 0 ? cold : kept
    const name = `random-${slot}-${made++}`
    return await addMember({ stack, names }, name, { scale_to_zero: scaleToZero, autostart: slot % 3 !== 0 })
  }

  /**
   * Repeats the call until there is an answer, because a part may be away. An error counts as an answer,
   * because another client may have deleted the object meanwhile.
   */
  async function insist(id: OperationId, object: string): Promise<void> {
    await until(
      `${id} is answered`,
      async () => (await stack.api.attempt(id, { object }).catch(() => undefined)) !== undefined,
      { limitMs: 60_000 },
    )
  }

  async function request(member: Member): Promise<void> {
    const url = `https://${member.host}/count`
    const answer = await names.get(url).catch(() => undefined)
    if (answer !== undefined)
      assert.ok(allowedStatuses.has(answer.status), `${url}: ${answer.status} ${answer.text}`)
  }

  async function connect(member: Member): Promise<void> {
    const socket = await names.connect(member.host, linePort).catch(() => undefined)
    socket?.on('error', () => undefined)
    socket?.write('hello\n')
    await delay(300)
    socket?.destroy()
  }

  const deeds: readonly (readonly [number, (member: Member, slot: number) => Promise<void>])[] = [
    [0.7, request],
    [0.8, connect],
    [0.88, async ({ uuid }) => await insist('startInstances', uuid)],
    [0.95, async ({ uuid }) => await insist('stopInstances', uuid)],
    [
      1,
      async ({ uuid }, slot) => {
        members[slot] = undefined
        await insist('deleteInstances', uuid)
        members[slot] = await until(
          'another is made',
          async () => await create(slot).catch(() => false as const),
          {
            limitMs: 60_000,
          },
        )
      },
    ],
  ]

  async function client(random: Random, endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      const slot = Math.floor(random() * instances)
      const dice = random()
      const pauseMs = random() * 700
      const member = members[slot]
      const deed = deeds.find(([below]) => dice < below)?.[1]
      if (member !== undefined) await deed?.(member, slot)
      await delay(pauseMs)
    }
  }

  async function reaper(random: Random, endMs: number): Promise<void> {
    while (performance.now() + killEveryMs < endMs) {
      await delay(killEveryMs * (0.5 + random()))
      await stack.killPart(parts[Math.floor(random() * parts.length)] ?? 'agent')
    }
  }

  it('leave nothing behind: every instance answers, and sleeps when nobody asks', async () => {
    const endMs = performance.now() + runMs
    await Promise.all([
      ...Array.from({ length: clients }, async (_, index) => await client(randomOf(seed + index), endMs)),
      reaper(randomOf(seed + clients), endMs),
    ])
    const all = members.flatMap((member) => member ?? [])
    assert.equal(all.length, instances)
    await Promise.all(
      all.map(async (member) => {
        await insist('startInstances', member.uuid)
        await until(
          `${member.name} answers`,
          async () => (await names.get(`https://${member.host}/count`)).status === 200,
          {
            limitMs: settleLimitMs,
          },
        )
      }),
    )
    await until(
      'all of them sleep',
      async () =>
        (await Promise.all(all.map(async (member) => await member.view()))).every(
          ({ state }) => state === 'standby',
        ),
      { limitMs: settleLimitMs },
    )
    await until('no VM is left', () => virtualMachinesByInstance(stack.dataDir).size === 0, {
      limitMs: settleLimitMs,
    })
    watch.verify()
  })
})
