import { finalHostFailures, HostFailure } from '../../domain/instance/host-work.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import { ImageError } from '../images/images.ts'
import { VmmError } from '../vmm/vmm.ts'
import { VolumeError } from '../volumes/volumes.ts'

/**
 * Thrown if an instance could not be started. `BootStart` turns every other error into this one
 * (`asHostStartError`).
 */
export class HostStartError extends Error {
  override readonly name = 'HostStartError'
  readonly failure: HostFailure
  /** Another attempt of the same boot would fail too, but one of another boot might not. */
  readonly final: boolean
  constructor(failure: HostFailure, message: string, options?: ErrorOptions & { readonly final?: boolean }) {
    super(message, options)
    this.failure = failure
    this.final = options?.final ?? finalHostFailures.includes(failure)
  }
}

/**
 * Throws if a start must not go on: if `signal` aborted it, or if the host may run no VM now. In the second
 * case another attempt may succeed a moment later.
 */
export function requireTerm({ term }: Pick<AgentPorts, 'term'>, signal?: AbortSignal): void {
  signal?.throwIfAborted()
  const refusal = term?.refusal()
  if (refusal !== undefined) throw new HostStartError(HostFailure.BootFailed, refusal)
}

/**
 * Turns any error of a start into the one kind that callers see. An error that came from a lack of room on
 * the host counts as `HostFull`, and an unforeseen error as `BootFailed`.
 */
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

/** The error codes of the host's kernel for a lack of disk, memory, files or processes. */
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
