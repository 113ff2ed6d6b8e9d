import type { ExecRequest } from '../exec/exec-session.ts'
import { FakeSession } from './fake-session.ts'

/**
 * Packs and unpacks the archives of a fake guest, which has them whole, by the path that they were copied
 * to.
 */
export class FakeCopy extends FakeSession {
  readonly #request: Extract<ExecRequest, { type: 'pack' | 'unpack' }>
  readonly #archives: Map<string, Buffer>
  readonly #pieces: Buffer[] = []

  constructor(request: Extract<ExecRequest, { type: 'pack' | 'unpack' }>, archives: Map<string, Buffer>) {
    super(request)
    this.#request = request
    this.#archives = archives
  }

  override begin(): void {
    this.emit('started')
    const { type, path } = this.#request
    if (type === 'unpack') return
    const archive = this.#archives.get(path)
    if (archive === undefined) this.put('stderr', Buffer.from(`${path}: No such file or directory\n`))
    else this.put('stdout', archive)
    this.endAfterOutput({ kind: 'code', code: archive === undefined ? 1 : 0 })
  }

  override write(bytes: Buffer): void {
    this.#pieces.push(bytes)
    super.write(bytes)
  }

  override endInput(): void {
    if (this.#request.type === 'pack') return
    this.#archives.set(this.#request.path, Buffer.concat(this.#pieces))
    this.endAfterOutput({ kind: 'code', code: 0 })
  }
}
