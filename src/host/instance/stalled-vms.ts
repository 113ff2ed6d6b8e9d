import { ConsoleWriter } from '../console/console-writer.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import type { InstanceEntry } from './entry.ts'

/**
 * Reports VMs that wait for room on the host's disk. Such a wait loses nothing, and nothing has to be done
 * about the VM. But a reader of the VM's console, its metrics or `roost explain` has to learn why it stands
 * still.
 */
export class StalledVms {
  readonly #ports: AgentPorts

  constructor(ports: AgentPorts) {
    this.#ports = ports
  }

  /**
   * Records a change. When a stall begins, the guest prints nothing, so its console has no other writer.
   * When the stall ends, the VM has run again for a second, and its keeper may be writing to the console
   * too.
   */
  note(entry: InstanceEntry, stalled: boolean): void {
    const { stalledSinceMs, instanceUuid: instance } = entry
    const { log, nowMs, observer } = this.#ports
    if (stalled === (stalledSinceMs !== undefined)) return
    if (stalledSinceMs === undefined) {
      entry.stalledSinceMs = nowMs()
      observer.stalled()
      log.warn({ instance }, 'the disk of this host is full: a VM stands still until there is room')
      this.#say(entry, 'stands still: the disk of its host is full; it goes on by itself when there is room')
    } else {
      entry.stalledSinceMs = undefined
      const seconds = Math.ceil((nowMs() - stalledSinceMs) / 1_000)
      log.info({ instance, seconds }, 'there is room again, and a VM goes on')
      this.#say(entry, `goes on: there is room on its host's disk again, after ${String(seconds)} s`)
    }
  }

  #say(entry: InstanceEntry, line: string): void {
    const { store, log } = this.#ports
    new ConsoleWriter(store.consoleDirectory(entry.instanceUuid))
      .append(Buffer.from(`[roost] ${line}\n`))
      .catch((error: unknown) => {
        // The console is usually on the same disk.
        log.warn({ instance: entry.instanceUuid, err: error }, 'could not write to the console')
      })
  }
}
