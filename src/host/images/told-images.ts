import { maxImageOwnersTold } from '../../domain/host/api-protocol.ts'
import type { Images } from './images.ts'
import type { AgentLog } from '../agent/agent-ports.ts'

/** The part of a heartbeat that says how much room images take. */
export class ToldImages {
  readonly #images: Pick<Images, 'usedBytes'>
  readonly #log: AgentLog
  #last: Readonly<Record<string, number>> = {}

  constructor(options: { readonly images: Pick<Images, 'usedBytes'>; readonly log: AgentLog }) {
    this.#images = options.images
    this.#log = options.log
  }

  /**
   * Returns the bytes that images take, by the user's UUID, for the users whose images take most. If the
   * disk can not be read now, the last answer is returned.
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
