import type { Logger } from 'pino'
import { handOverGraceMs } from '../gateway/processes/messages.ts'
import type { ServingProcesses } from '../gateway/processes/serving-processes.ts'
import { HandOverMessage } from '../launch/parts/hand-over-messages.ts'

/**
 * Ends the gateway:
 *
 *   SIGTERM under a supervisor ──► it gives away what only one gateway may have, and says that it wants to
 *                                  leave; it serves on until the supervisor lets it go, then it drains
 *   SIGTERM without a supervisor ─► it drains
 *   SIGINT, a second SIGTERM, the loss of the supervisor ──► it ends now, with a short grace
 */
export function leaveOnSignal(gateway: {
  readonly serving: Pick<ServingProcesses, 'drain' | 'end'>
  readonly log: Logger
  /** Gives away what a successor needs: the port of health and metrics, and the file of routes. */
  readonly leaveShared: () => Promise<void>
  readonly close: () => Promise<void>
}): void {
  const { serving, log } = gateway
  let leaving = false

  async function end(how: () => Promise<void>): Promise<void> {
    await Promise.all([gateway.leaveShared(), how()])
    await gateway.close()
    process.exit(0)
  }

  function endNow(): void {
    log.info('closing')
    void end(async () => await serving.end())
  }

  async function leave(): Promise<void> {
    await gateway.leaveShared()
    if (process.send === undefined) return await drain()
    log.info('waiting for a successor')
    process.send(HandOverMessage.Leaving, undefined, {}, () => undefined)
  }

  async function drain(): Promise<void> {
    log.info('draining')
    await end(async () => await serving.drain(handOverGraceMs))
  }

  process.on('SIGINT', endNow)
  process.on('SIGTERM', () => {
    if (leaving) return endNow()
    leaving = true
    void leave()
  })
  process.on('message', (message) => {
    if (message === HandOverMessage.LetGo) void drain()
  })
  process.on('disconnect', endNow)
}
