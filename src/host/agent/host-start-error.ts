import { finalHostFailures, HostFailure } from '../../domain/host-work.ts'
import { ImageError } from '../images/images.ts'
import { VmmError } from '../vmm/vmm.ts'

/** An instance could not be started, for a reason that neither its image nor its VM gave. */
export class HostStartError extends Error {
  override readonly name = 'HostStartError'
  readonly failure: HostFailure
  /** Another attempt of the same boot can not mend it, although one of another boot might. */
  readonly final: boolean
  constructor(failure: HostFailure, message: string, options?: ErrorOptions & { readonly final?: boolean }) {
    super(message, options)
    this.failure = failure
    this.final = options?.final ?? finalHostFailures.includes(failure)
  }
}

/** Any failure of a start as the one kind that callers see; what nobody foresaw counts as a failed boot. */
export function asHostStartError(error: unknown): HostStartError {
  if (error instanceof HostStartError) return error
  if (error instanceof ImageError || error instanceof VmmError) {
    return new HostStartError(error.failure, error.message, { cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  return new HostStartError(HostFailure.BootFailed, `the host could not start the VM: ${message}`, {
    cause: error,
  })
}
