import type { ExecRequest } from '../exec/exec-session.ts'
import { FakeSession } from './fake-session.ts'

/**
 * The port on which an application of a fake guest listens. It sends back what it gets, to the end of
 * that.
 */
const echoPort = 7

export class FakeConnection extends FakeSession {
  readonly #port: number

  constructor(request: Extract<ExecRequest, { type: 'connect' }>) {
    super(request)
    this.#port = request.port
  }

  override begin(): void {
    if (this.#port === echoPort) this.emit('started')
    else this.finish({ kind: 'failed', code: 126, message: `nothing listens on port ${this.#port}` })
  }

  override write(bytes: Buffer): void {
    this.put('stdout', bytes)
    super.write(bytes)
  }

  override endInput(): void {
    this.afterOutput(() => {
      this.emit('outputEnded')
      this.endAfterOutput({ kind: 'code', code: 0 })
    })
  }
}
