import type { Logger } from 'pino'
import { followRoutes } from '../gateway/feed-client.ts'
import type { FeedClient } from '../gateway/feed-client.ts'
import { RouteTable } from '../gateway/route-table.ts'
import { openTableFile } from '../gateway/table-file.ts'
import type { TableFile } from '../gateway/table-file.ts'
import type { GatewayPlace } from './gateway-place.ts'
import { BlockSink } from '../gateway/processes/block-sink.ts'
import type { BlockListener } from '../gateway/processes/block-sink.ts'
import type { BuiltInService } from '../gateway/built-in-services.ts'
import type { LineStreamChange } from '../primitives/line-stream.ts'
import type { Settings } from '../settings/settings.ts'

/**
 * The table of routes, and the feed from which it is kept up to date. It begins with the routes of the file
 * from the last run.
 */
export interface KeptRoutes {
  readonly table: RouteTable
  /** The time since the last line from the API. Before the first line, it is the time since the start. */
  readonly ageMs: number
  /** Begins to read the feed of the API. `listener` hears of each block that was applied. */
  follow(listener: BlockListener): void
  /** Writes the table to its file for the last time. The feed is read on. Idempotent. */
  leaveFile(): Promise<void>
  close(): Promise<void>
}

export async function openRoutes(options: {
  readonly settings: Settings
  readonly place: Pick<GatewayPlace, 'feed' | 'fileSecret' | 'refusal'>
  readonly builtIn: readonly BuiltInService[]
  /** Ends the serving processes, if the installation does not have this gateway any more. */
  readonly endServing: () => Promise<void>
  readonly log: Logger
}): Promise<KeptRoutes> {
  const { settings, place, builtIn, endServing, log } = options
  const table = new RouteTable({ builtIn: builtIn.map(({ service }) => service) })
  const file = openTableFile({
    directory: settings.gatewayDir,
    secret: place.fileSecret,
    onProblem: (message, error) => log.warn({ err: error }, message),
  })
  if (await file.load(table)) log.info({ services: count(table.services()) }, 'the last routes are served')
  file.keep(table)
  let feed: FeedClient | undefined
  const openedMs = performance.now()
  return {
    table,
    get ageMs() {
      return performance.now() - (feed?.heardMs ?? openedMs)
    },
    follow(listener) {
      const sink = new BlockSink(table, listener)
      feed = followRoutes({
        apiUrl: settings.apiUrl,
        ...place.feed,
        sink,
        onChange: changesTold(place, { file, endServing, log }),
      })
    },
    leaveFile: async () => await file.close(),
    async close() {
      await feed?.stop()
      await file.close()
    },
  }
}

/**
 * Logs the loss of the connection once, even if the connection is tried again many times. A gateway that the
 * installation does not have any more forgets its routes and ends.
 */
function changesTold(
  place: Pick<GatewayPlace, 'refusal'>,
  { file, endServing, log }: { file: TableFile; endServing: () => Promise<void>; log: Logger },
): (change: LineStreamChange) => void {
  let told: string | undefined
  return (change) => {
    if (change.connected) {
      told = undefined
      log.info('the API tells the routes')
      return
    }
    const { why, status } = change
    const refusal = status === undefined ? undefined : place.refusal(status)
    if (refusal?.isFinal === true) {
      log.fatal(refusal.message)
      void Promise.all([file.remove(), endServing()]).finally(() => process.exit(1))
    }
    if (why === told) return
    told = why
    if (refusal?.isFinal === true) return
    log.warn(refusal?.message ?? `the API does not tell the routes (${why}); the last ones are served`)
  }
}

function count(all: Iterable<unknown>): number {
  return [...all].length
}
