import type { Database } from '../../src/db/database.ts'
import type { WriteRefusal } from '../../src/db/refused.ts'
import type { WatchedTerm } from '../../src/domain/host/loss.ts'
import type { HostLoss } from '../../src/domain/host/term.ts'
import type { InstanceSettings } from '../../src/domain/instance/settings.ts'
import type { MovedVolume, MovePlace } from '../../src/domain/instance/host-work.ts'

export interface HostLossDeps {
  readonly database: Database
  /** The watch of this process. */
  readonly watch: { of(hostId: string): WatchedTerm | undefined }
  readonly instances: {
    hostLost(settings: InstanceSettings, loss: HostLoss): Promise<void>
    hostGone(instanceUuid: string): Promise<void>
    move(
      settings: InstanceSettings,
      request: { readonly from: MovePlace; readonly to: MovePlace; readonly volume?: MovedVolume },
      requestId: string,
    ): Promise<{ readonly revision: number }>
  }
  readonly volumes: { hostGone(volumeUuid: string): Promise<void> }
  /** Says in a sentence why no other host takes an instance. */
  readonly refusalSentence: (refusal: WriteRefusal) => string
  /** Waits for so long, unless the call is called off. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
}
