import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { InstanceView } from '../support/instances.ts'
import { viewOf } from '../support/instances.ts'
import type { PublicNames } from '../support/public-names.ts'
import { linePort, publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import type { Stack } from '../support/stack.ts'
import { inTime } from '../support/in-time.ts'
import { askSteadily } from './steady-client.ts'

/** An instance under traffic, and what its client has seen of it so far. */
export interface Member extends Published {
  readonly keepsMemory: boolean
  readonly answers: number[]
  /** The number of connections, lines and repeated requests. Each of them may have woken the instance too. */
  others: number
  /**
   * Sends one request; the application answers how many it has had. Throws without an answer. If the instance
   * keeps its memory, also throws unless the number is larger than before.
   */
  ask(): Promise<void>
  view(): Promise<InstanceView>
}

/**
 * With the policy `idle` an instance falls asleep over an open connection that carries nothing for this
 * long, also while it is at work on an answer. On a machine under load the answer to a line may take more
 * than 300 ms.
 */
const cooldownMs = 1_000
export const kept = { policy: 'idle', cooldown_time_ms: cooldownMs, stateful: true } as const
export const cold = { policy: 'on', cooldown_time_ms: cooldownMs } as const

export async function addMember(
  of: { readonly stack: Stack; readonly names: PublicNames },
  name: string,
  wishes: Readonly<Record<string, unknown>>,
): Promise<Member> {
  const { stack, names } = of
  const published = await publish(stack, name, wishes)
  const scaleToZero = wishes['scale_to_zero'] as { readonly stateful?: boolean } | undefined
  const keepsMemory = scaleToZero?.stateful === true
  const answers: number[] = []
  const member: Member = {
    ...published,
    keepsMemory,
    answers,
    others: 0,
    async ask() {
      const answer = await askSteadily(names, `https://${published.host}/count`, () => {
        // The first try may have woken the instance before its connection broke.
        member.others += 1
      })
      assert.equal(answer.status, 200, `${name}: ${answer.text}`)
      const counted = Number(answer.text)
      const last = answers.at(-1) ?? 0
      answers.push(counted)
      if (keepsMemory)
        assert.ok(counted > last, `${name} counted ${counted} after ${last}: it lost its memory`)
    },
    view: () => viewOf(stack.api, published.uuid),
  }
  return member
}

/**
 * One client of an instance. It asks, pauses so that the instance can sleep, and goes on until it is told to
 * end.
 */
export async function askInTurns(member: Member, until: AbortSignal, pauseMs: () => number): Promise<void> {
  while (!until.aborted) {
    await member.ask()
    await delay(pauseMs(), undefined, { signal: until }).catch(() => undefined)
  }
}

/** A TCP connection that has to survive whatever happens. Each line that is sent has to be answered. */
export interface LineClient {
  say(word: string): Promise<number>
  close(): void
}

export async function openLines(names: PublicNames, member: Member): Promise<LineClient> {
  const socket: TLSSocket = await inTime(
    `${member.name} takes a connection`,
    names.connect(member.host, linePort),
  )
  socket.on('error', () => undefined)
  member.others += 1
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  return {
    async say(word) {
      member.others += 1
      socket.write(`${word}\n`)
      const { value, done } = await inTime(`${member.name} answers the line ${word}`, lines.next())
      assert.ok(done !== true, `the connection to ${member.name} was closed`)
      const [, count, echoed] = /^(\d+) (.*)$/.exec(value) ?? []
      assert.equal(echoed, word)
      return Number(count)
    },
    close: () => void socket.destroy(),
  }
}

export async function talk(socket: WebSocket, word: string): Promise<void> {
  assert.equal(socket.readyState, WebSocket.OPEN, 'the WebSocket was closed')
  const answered = once(socket, 'message') as Promise<[MessageEvent]>
  socket.send(word)
  const closed = once(socket, 'close').then(() => {
    throw new Error(`the WebSocket was closed before it answered ${word}`)
  })
  const [message] = await inTime(`the WebSocket answers ${word}`, Promise.race([answered, closed]))
  assert.match(String(message.data), new RegExp(`^\\d+ ${word}$`))
}

/**
 * Verifies that every member answers, that every member sleeps without traffic, and that no failure is left
 * behind.
 */
export async function verifyMembers(stack: Stack, members: readonly Member[]): Promise<void> {
  await Promise.all(members.map(async (member) => await member.ask()))
  await Promise.all(
    members.map(async (member) => {
      const asleep = await untilAsleep(stack, member.uuid)
      assert.equal(asleep.failure, undefined, member.name)
      assert.equal(asleep.restart_count, 0, member.name)
      assert.equal(asleep.snapshot === undefined, !member.keepsMemory, member.name)
      const starts = asleep.start_count ?? 0
      assert.ok(
        starts <= member.answers.length + member.others + 1,
        `${member.name}: ${starts} starts, ${member.answers.length} answers, ${member.others} others`,
      )
    }),
  )
}
