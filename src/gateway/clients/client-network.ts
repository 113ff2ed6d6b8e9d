import { Roster } from '../roster.ts'
import type { ClientPlace } from './client-place.ts'
import type { SourceNetwork } from './source.ts'

/** A network that has connections open, and the narrower ones within it; the narrowest have the connections. */
export class ClientNetwork {
  readonly source: SourceNetwork
  readonly wider: ClientNetwork | undefined
  readonly parts = new Map<string, ClientNetwork>()
  readonly places = new Roster<ClientPlace>()
  /** Open connections, those of all parts. */
  count = 0

  constructor(source: SourceNetwork, wider?: ClientNetwork) {
    this.source = source
    this.wider = wider
  }

  /** Itself and those it is part of, narrowest first. */
  get path(): readonly ClientNetwork[] {
    return this.wider === undefined ? [this] : [this, ...this.wider.path]
  }

  /** The narrowest networks within it: those of the part that has most connections first. */
  *sources(): Generator<ClientNetwork> {
    if (this.parts.size === 0) yield this
    const byCount = [...this.parts.values()].toSorted((one, other) => other.count - one.count)
    for (const part of byCount) yield* part.sources()
  }
}
