import process from 'node:process'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { hostLinks } from './host-link.ts'
import { PretendedHost } from './pretended-host.ts'
import type { ReportedBeats, WantedHosts } from './pretended-hosts.ts'

/** A process with many pretended hosts. Its parent tells it what to be, and asks it for its heartbeats. */

const log = {
  info: () => undefined,
  warn: (fields: object, message: string) => say(fields, message),
  error: (fields: object, message: string) => say(fields, message),
}

function say(fields: object, message: string): void {
  const { err } = fields as { readonly err?: unknown }
  const why = err instanceof Error ? `: ${err.message}` : ''
  process.stderr.write(`pretended hosts: ${message}${why}\n`)
}

let beatsMs: number[] = []
let hosts: readonly PretendedHost[] = []

async function begin(wanted: WantedHosts): Promise<void> {
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') })
  const openLink = await hostLinks(wanted.link)
  const onBeat = (tookMs: number) => void beatsMs.push(tookMs)
  const opened: PretendedHost[] = []
  // One after the other: each join gets a network of its own under a lock.
  for (const nodeId of wanted.nodeIds) {
    const host = await PretendedHost.open(nodeId, await openLink(nodeId), { ...wanted, log, onBeat })
    host.start()
    opened.push(host)
  }
  hosts = opened
}

async function obey(message: { readonly kind: string; readonly wanted?: WantedHosts }): Promise<void> {
  if (message.kind === 'begin' && message.wanted !== undefined) await begin(message.wanted)
  if (message.kind === 'stop') {
    await Promise.all(hosts.map(async (host) => await host.stop()))
    process.exit(0)
  }
  const told = { beatsMs } satisfies ReportedBeats
  beatsMs = []
  process.send?.(told)
}

process.on('message', (message) => {
  obey(message as Parameters<typeof obey>[0]).catch((error: unknown) => {
    process.stderr.write(`pretended hosts: ${String(error)}\n`)
    process.exit(1)
  })
})
// Whoever asked for the hosts is gone.
process.on('disconnect', () => process.exit(1))
