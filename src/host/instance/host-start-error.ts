import { finalHostFailures, HostFailure } from '../../domain/instance/host-work.ts'
import { ImageError } from '../images/images.ts'
import { VmmError } from '../vmm/vmm.ts'
import { VolumeError } from '../volumes/volumes.ts'

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
  const isTold = error instanceof VmmError || error instanceof VolumeError
  if (error instanceof ImageError || (isTold && !isForWantOfRoom(error))) {
    return new HostStartError(error.failure, error.message, { cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  if (isForWantOfRoom(error)) {
    return new HostStartError(HostFailure.HostFull, `the host has no room left: ${message}`, { cause: error })
  }
  return new HostStartError(HostFailure.BootFailed, `the host could not start the VM: ${message}`, {
    cause: error,
  })
}

/** What the host's kernel says where disk, memory or processes are used up. */
const roomCodes: ReadonlySet<string | undefined> = new Set([
  'ENOSPC',
  'EDQUOT',
  'ENOMEM',
  'EAGAIN',
  'EMFILE',
  'ENFILE',
])

function isForWantOfRoom(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return roomCodes.has((error as NodeJS.ErrnoException).code) || isForWantOfRoom(error.cause)
}
