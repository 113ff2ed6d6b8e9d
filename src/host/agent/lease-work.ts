import type { InstanceEntry } from '../instance/entry.ts'
import type { BootEnd } from '../instance/boot-end.ts'
import type { HostLeaseWork } from '../leases/host-leases.ts'
import type { StandbyWork } from '../leases/standby-work.ts'
import type { AgentPorts } from './agent-ports.ts'

/** The work that the decisions of the leases begin, on the parts of an agent. */
export function leaseWork({
  ports,
  end,
  standby,
  wake,
  follow,
}: {
  readonly ports: AgentPorts
  readonly end: BootEnd
  readonly standby: StandbyWork
  readonly wake: HostLeaseWork['wake']
  /** Remembers work on an order to stand by as that of the entry. */
  readonly follow: (entry: InstanceEntry, work: Promise<void>) => void
}): HostLeaseWork {
  return {
    wake,
    sleep: (entry, order) => {
      follow(entry, standby.sleep(entry, order))
    },
    hurry: (entry) => {
      standby.hurry(entry)
    },
    noteWakeFailure: (entry, failed) => {
      const due = entry.job?.byPermit ?? false
      entry.queue
        .run(async () => await standby.noteWakeFailure(entry, failed, due))
        .then(
          () => {
            end.news()
          },
          (error: unknown) => {
            ports.log.error(
              { instance: entry.instanceUuid, err: error },
              'a failed wake could not be recorded',
            )
          },
        )
    },
    news: () => {
      end.news()
    },
  }
}
