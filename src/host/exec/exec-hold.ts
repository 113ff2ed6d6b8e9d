import { programLeasePrefix } from '../../domain/standby/lease-protocol.ts'
import type { HostMessage } from '../../domain/standby/lease-protocol.ts'
import type { GatewayLine, HostLeases } from '../leases/host-leases.ts'
import { ExecRefused } from './exec-session.ts'

/** What a hold needs of the leases of its host. */
export type LeasesForExec = Pick<HostLeases, 'connect' | 'disconnect' | 'hear' | 'noteReported'>

/**
 * What holds an instance awake while a program of a user runs in it. To the instance's lease it is a gateway
 * with one connection: it wakes a sleeper, waits for a start, and keeps standby away until it is given back.
 * It does not keep a stop away: the end of the instance ends its programs.
 */
export class ExecHold implements GatewayLine {
  static #made = 0
  readonly gatewayId: string
  readonly #leases: LeasesForExec
  readonly #instance: string
  readonly #answer = Promise.withResolvers<number>()
  #epoch = 0
  #over = false

  private constructor(leases: LeasesForExec, instance: string) {
    ExecHold.#made += 1
    this.gatewayId = `${programLeasePrefix}${String(process.pid)}-${String(ExecHold.#made)}`
    this.#leases = leases
    this.#instance = instance
  }

  /**
   * Resolves once the instance runs, with the hold and the boot. Throws `ExecRefused` if it does not run and
   * is not woken, and what `signal` aborts with.
   */
  static async take(
    leases: LeasesForExec,
    instance: string,
    signal: AbortSignal,
  ): Promise<{ readonly hold: ExecHold; readonly boot: number }> {
    const hold = new ExecHold(leases, instance)
    const abort = () => hold.#answer.reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
    try {
      leases.connect(hold, [])
      hold.#open()
      return { hold, boot: await hold.#answer.promise }
    } catch (error) {
      hold.release()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  release(): void {
    if (this.#over) return
    this.#over = true
    const { gatewayId: gateway } = this
    this.#leases.hear(this, this.#instance, { kind: 'returned', gateway, epoch: this.#epoch, quietMs: 0 })
    this.#leases.disconnect(this, Date.now(), true)
  }

  send(message: HostMessage | Promise<HostMessage>): void {
    if (message instanceof Promise)
      message.then(
        (ready) => this.#hear(ready),
        (error: unknown) => this.#answer.reject(error as Error),
      )
    else this.#hear(message)
  }

  end(): void {
    this.release()
  }

  #open(): void {
    this.#epoch += 1
    const { gatewayId: gateway } = this
    this.#leases.hear(this, this.#instance, { kind: 'open', gateway, epoch: this.#epoch, ports: [] })
  }

  #hear(message: HostMessage): void {
    if (message.kind === 'report') this.#leases.noteReported(this, message.number)
    if (this.#over) return
    if (message.kind === 'opened') this.#answer.resolve(message.boot)
    if (message.kind === 'refused') this.#answer.reject(new ExecRefused('not-running', message.message))
    // The programs of users do not hold up a drain. If it is called off, they need the lease again.
    if (message.kind === 'drain')
      this.#leases.hear(this, this.#instance, {
        kind: 'drained',
        gateway: this.gatewayId,
        boot: message.boot,
      })
    if (message.kind === 'undrain') this.#open()
  }
}
