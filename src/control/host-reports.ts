import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client'
import type { HostReport } from '../domain/host/api-protocol.ts'
import { hostEventSignalName, volumeEventSignalName } from '../domain/instance/host-work.ts'
import { connectionOptions } from '../trust/temporal-tls.ts'
import type { TemporalAddress } from './temporal-control.ts'
import { tracedCalls } from './temporal-traces.ts'

/** Tells workflows what a host reports. */
export interface HostReports {
  /** Resolves with whether the workflow still exists. */
  tell(report: HostReport): Promise<boolean>
  close(): Promise<void>
}

/** How long a signal waits for Temporal. Without this limit a call would wait for ever if nobody answers. */
const signalDeadlineMs = 5_000

const signals = {
  instance: hostEventSignalName,
  volume: volumeEventSignalName,
} as const satisfies Record<HostReport['kind'], string>

/**
 * Sends reports as signals. The connection is made with the first one, and made again when it is lost.
 */
export function createHostReports(place: TemporalAddress): HostReports {
  const connection = Connection.lazy(connectionOptions(place))
  const client = new Client({
    connection,
    namespace: place.namespace,
    interceptors: { workflow: [tracedCalls] },
  })
  return {
    async tell({ kind, uuid, event }) {
      const handle = client.workflow.getHandle(`${kind}/${uuid}`)
      try {
        await connection.withDeadline(Date.now() + signalDeadlineMs, async () => {
          await handle.signal(signals[kind], event)
        })
        return true
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false
        throw error
      }
    },
    close: async () => {
      await connection.close()
    },
  }
}
