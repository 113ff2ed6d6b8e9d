import { readMesh } from '../../db/host/mesh.ts'
import type { ToldMesh } from '../../domain/host/mesh.ts'
import type { ApiDeps } from '../deps.ts'

/** How long a reading is good. All hosts ask again and again, and the mesh rarely changes. */
const goodMs = 500

/** Reads the mesh for all hosts that ask at about the same time. */
export class MeshReader {
  readonly #deps: Pick<ApiDeps, 'database' | 'nowMs'>
  #reading: Promise<ToldMesh> | undefined
  #untilMs = 0

  constructor(deps: Pick<ApiDeps, 'database' | 'nowMs'>) {
    this.#deps = deps
  }

  async read(): Promise<ToldMesh> {
    const nowMs = this.#deps.nowMs()
    if (this.#reading === undefined || nowMs >= this.#untilMs) {
      this.#reading = readMesh(this.#deps.database)
      this.#untilMs = nowMs + goodMs
      this.#reading.catch(() => (this.#reading = undefined))
    }
    return await this.#reading
  }
}
