import { HostFailure } from '../../domain/instance/host-work.ts'
import type { Refusal } from '../traffic.ts'
import { HttpFailure } from './http-failure.ts'

export const noService = 'There is no service on this URL.'

export function failureOfRefusal(refusal: Refusal): HttpFailure {
  switch (refusal.reason) {
    case 'no-instance':
      return new HttpFailure(404, noService)
    case 'hard-limit':
      return busy('The application is at the limit of what it takes at once.', refusal.retryAfterMs)
    case 'queue-full':
      return busy('Too many requests wait for the application to start.', refusal.retryAfterMs)
    case 'timed-out':
      return busy('The application did not start in time.', refusal.retryAfterMs)
    // The message is for the owner only: it may end with what the application printed, or name files of a
    // volume.
    case 'wake-failed':
      return busy(couldNotStart(refusal.failure), refusal.retryAfterMs)
    // The message names hosts.
    case 'host-away':
      return busy('The host of the application does not answer.', refusal.retryAfterMs)
    case 'aborted':
    default:
      return busy('The request was given up.', 1_000)
  }
}

/** The reasons why an application could not be started that any client may read. */
const publicReasons: Readonly<Record<HostFailure, string>> = {
  [HostFailure.ImageUnavailable]: 'its image is not available',
  [HostFailure.ImageUnusable]: 'its image can not run',
  [HostFailure.QuotaExceeded]: 'its image takes more than its account may have',
  [HostFailure.HostFull]: 'its host has no room',
  [HostFailure.BootFailed]: 'it did not come up',
  [HostFailure.VolumeUnusable]: 'its volume can not be used',
  [HostFailure.VolumeInUse]: 'its volume is still in use',
  [HostFailure.UnknownInstance]: 'it is gone',
}

/**
 * The sentence that says why a start failed. A host may be newer than this gateway and report failures that
 * are unknown here.
 */
function couldNotStart(failure: HostFailure | undefined): string {
  const reason: string | undefined = failure === undefined ? undefined : publicReasons[failure]
  return `The application could not be started${reason === undefined ? '' : `: ${reason}`}.`
}

function busy(message: string, retryAfterMs: number): HttpFailure {
  return new HttpFailure(503, message, { retryAfterMs })
}
