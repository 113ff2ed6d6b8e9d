import { setTimeout as delay } from 'node:timers/promises'
import { runInstance } from '../../test/support/instances.ts'
import type { PublicNames } from '../../test/support/public-names.ts'
import { untilAsleep } from '../../test/support/published-instance.ts'
import type { Published } from '../../test/support/published-instance.ts'
import type { Stack } from '../../test/support/stack.ts'

/**
 * What a user notices whose service answers 50 requests/s. The user also starts an instance now and then,
 * and has an instance that sleeps until a request comes.
 */
export interface Experience {
  readonly requestsMs: readonly number[]
  readonly startsMs: readonly number[]
  readonly wakesMs: readonly number[]
  /** The times of API calls that only read. */
  readonly readsMs: readonly number[]
  readonly failed: number
  /** The first failures. */
  readonly failures: readonly string[]
}

export interface GoodNeighbour {
  readonly stack: Stack
  readonly names: PublicNames
  readonly serving: Published
  readonly sleeping: Published
}

const requestEveryMs = 20
const startEveryMs = 5_000
const wakeEveryMs = 5_000
const readEveryMs = 500
const answerLimitMs = 30_000
const maxKeptFailures = 10

/**
 * Sends requests at fixed times. A slow answer does not delay the next request.
 */
export async function experience(neighbour: GoodNeighbour, durationMs: number): Promise<Experience> {
  const { stack, names, serving, sleeping } = neighbour
  const failures: string[] = []
  let failed = 0
  const end = performance.now() + durationMs
  const fail = (what: string, error: unknown): void => {
    failed += 1
    if (failures.length < maxKeptFailures) failures.push(`${what}: ${String(error)}`)
  }
  const timed = async (what: string, into: number[], work: () => Promise<unknown>): Promise<void> => {
    const startedMs = performance.now()
    await work().then(
      () => into.push(performance.now() - startedMs),
      (error: unknown) => fail(what, error),
    )
  }
  const requestsMs: number[] = []
  const readsMs: number[] = []
  const startsMs: number[] = []
  const wakesMs: number[] = []
  await Promise.all([
    atFixedTimes(requestEveryMs, end, async () =>
      timed('request', requestsMs, async () => expectOk(names, `https://${serving.host}/count`)),
    ),
    atFixedTimes(readEveryMs, end, async () =>
      timed('read', readsMs, async () => stack.api.one('getInstances', { object: serving.uuid })),
    ),
    oneAfterTheOther(startEveryMs, end, async () =>
      timed('start', startsMs, async () => startOne(stack)).then(async () => removeOne(stack)),
    ),
    // Wakes come halfway between two starts, so that neither disturbs the other's measurement.
    delay(startEveryMs / 2).then(async () =>
      oneAfterTheOther(wakeEveryMs, end, async () => {
        const slept = await untilAsleep(stack, sleeping.uuid).then(
          () => true,
          (error: unknown) => fail('falling asleep', error),
        )
        if (slept === true) {
          await timed('wake', wakesMs, async () => expectOk(names, `https://${sleeping.host}/count`))
        }
      }),
    ),
  ])
  return { requestsMs, readsMs, startsMs, wakesMs, failed, failures }
}

async function expectOk(names: PublicNames, url: string): Promise<void> {
  const { status, text } = await names.get(url, { limitMs: answerLimitMs })
  if (status !== 200) throw new Error(`${status} ${text.slice(0, 200)}`)
}

async function startOne(stack: Stack): Promise<void> {
  await runInstance(stack.api, { name: 'now-and-then', image: 'hello' })
}

async function removeOne(stack: Stack): Promise<void> {
  await stack.api.attempt('deleteInstances', { body: [{ name: 'now-and-then' }] })
}

async function atFixedTimes(everyMs: number, endMs: number, work: () => Promise<void>): Promise<void> {
  const under = new Set<Promise<void>>()
  for (let at = performance.now(); at < endMs; at += everyMs) {
    await delay(Math.max(0, at - performance.now()))
    const one = work().finally(() => under.delete(one))
    under.add(one)
  }
  await Promise.all(under)
}

async function oneAfterTheOther(everyMs: number, endMs: number, work: () => Promise<void>): Promise<void> {
  while (performance.now() < endMs) {
    const next = performance.now() + everyMs
    await work()
    await delay(Math.max(0, Math.min(next, endMs) - performance.now()))
  }
}
