import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { until } from './until.ts'

/** One server-sent event as it came. */
export interface SeenEvent {
  readonly id: string | undefined
  readonly type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly data: any
}

/** A client of a stream of server-sent events. */
export interface FollowedEvents {
  readonly status: number
  readonly seen: readonly SeenEvent[]
  /** Whether the server has ended the stream, or the connection broke. */
  readonly ended: boolean
  /** Waits until `count` events have come, and returns all that came. */
  atLeast(count: number): Promise<readonly SeenEvent[]>
  /** Stops to read, so that the server can write no more. */
  pause(): void
  resume(): void
  close(): void
}

export async function followEvents(
  url: string,
  { token, lastEventId }: { readonly token: string; readonly lastEventId?: string | number },
): Promise<FollowedEvents> {
  const sent = request(url, {
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
    },
  })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  sent.on('error', () => undefined)
  const seen: SeenEvent[] = []
  let text = ''
  let ended = false
  response.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = eventIn(block)
      if (event !== undefined) seen.push(event)
    }
  })
  for (const end of ['end', 'error', 'close']) response.on(end, () => (ended = true))
  return {
    status: response.statusCode ?? 0,
    seen,
    get ended() {
      return ended
    },
    async atLeast(count) {
      await until(`${count} events have come`, async () => seen.length >= count, { limitMs: 20_000 })
      return seen
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void sent.destroy(),
  }
}

function eventIn(block: string): SeenEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const
    }),
  )
  const data = fields.get('data')
  if (data === undefined) return undefined
  return { id: fields.get('id'), type: fields.get('event') ?? 'message', data: JSON.parse(data) }
}
