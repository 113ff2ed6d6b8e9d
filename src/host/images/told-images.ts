import { maxImageOwnersTold } from '../../domain/host/api-protocol.ts'
import type { Images } from './images.ts'
import type { AgentLog } from '../agent/agent-ports.ts'

/** What a heartbeat tells of the room that images take. */
export class ToldImages {
  readonly #images: Pick<Images, 'usedBytes'>
  readonly #log: AgentLog
  #last: Readonly<Record<string, number>> = {}

  constructor(options: { readonly images: Pick<Images, 'usedBytes'>; readonly log: AgentLog }) {
    this.#images = options.images
    this.#log = options.log
  }

  /**
   * Bytes by the user's UUID: of the users that hold most. Where the disk does not say it now, what it said
   * last.
   */
  async bytesByUser(): Promise<Readonly<Record<string, number>>> {
    try {
      const used = [...(await this.#images.usedBytes())]
      const most = used.toSorted(([, a], [, b]) => b - a).slice(0, maxImageOwnersTold)
      this.#last = Object.fromEntries(most)
    } catch (error) {
      this.#log.warn({ err: error }, 'the room that images take could not be read')
    }
    return this.#last
  }
}
