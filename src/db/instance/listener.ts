import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from '../database.ts'
import { feedChannel } from '../service/feed-read.ts'
import { eventChannel } from '../event/channel.ts'
import { instanceChannel } from './channel.ts'

export interface InstanceListener {
  close(): Promise<void>
}

export interface ListenerEvents {
  onChange(uuid: string): void
  /** The feed changed. `topics` names the feed topics that the change concerns, with spaces between. */
  onFeed(topics: string): void
  /** A user has new events. */
  onEvents(userUuid: string): void
  /** Notifications may have been missed: read everything again. */
  onReconnect(): void
}

const firstReconnectDelayMs = 50
const maxReconnectDelayMs = 1_000
/**
 * A connection gets a query every 10 s and has 5 s to answer. So a connection that is dead but was never
 * closed is noticed within 15 s.
 */
const probeEveryMs = 10_000
const probeTimeoutMs = 5_000
const connectTimeoutMs = 5_000

/**
 * Holds one connection that listens. When the connection is lost, tries to connect again until that
 * succeeds. Resolves when the first connection listens; throws if the first connection fails.
 */
export async function openInstanceListener(
  database: Database,
  events: ListenerEvents,
): Promise<InstanceListener> {
  const closing = new AbortController()
  let current = await connect(database, events, onLost)
  let reconnecting: Promise<void> = Promise.resolve()

  function onLost(client: pg.Client): void {
    if (closing.signal.aborted || client !== current) return
    reconnecting = reconnect()
  }

  async function reconnect(): Promise<void> {
    for (let delayMs = firstReconnectDelayMs; ; delayMs = Math.min(delayMs * 2, maxReconnectDelayMs)) {
      try {
        await sleep(delayMs, undefined, { signal: closing.signal })
        current = await connect(database, events, onLost)
      } catch {
        // The listener is being closed, or PostgreSQL is still away. Nothing is reported here, because the
        // queries of readers fail by themselves meanwhile.
        if (closing.signal.aborted) return
        continue
      }
      events.onReconnect()
      return
    }
  }

  return {
    async close() {
      closing.abort()
      await reconnecting
      await current.end().catch(() => undefined)
    },
  }
}

async function connect(
  database: Database,
  events: ListenerEvents,
  onLost: (client: pg.Client) => void,
): Promise<pg.Client> {
  const client = new pg.Client({
    ...database.address,
    application_name: `${database.applicationName} watch`,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: probeTimeoutMs,
  })
  let probe: NodeJS.Timeout | undefined
  client.on('error', () => void client.end().catch(() => undefined))
  client.on('end', () => {
    clearInterval(probe)
    onLost(client)
  })
  client.on('notification', ({ channel, payload = '' }) => {
    if (channel === feedChannel) events.onFeed(payload)
    else if (channel === eventChannel) events.onEvents(payload)
    else events.onChange(payload)
  })
  await client.connect()
  await client.query(`listen ${instanceChannel}; listen ${feedChannel}; listen ${eventChannel}`)
  probe = setInterval(() => {
    client.query('select 1').catch(() => client.end().catch(() => undefined))
  }, probeEveryMs)
  return client
}
