import { problem } from '../../contract/errors.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

/** The image that a reference of the caller means, or the problem with it. */
export async function findImage(deps: ApiDeps, call: Call, reference: string) {
  try {
    const image = await deps.images.resolve(call.identity.userName, reference, call.signal)
    if (image.kind === 'unknown') return problem('imageNotFound', { value: reference })
    if (image.kind === 'unusable') return problem('unusableImage', { value: reference, reason: image.reason })
    return image
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    call.log.warn({ err: error }, 'the image registry failed')
    return problem('operationFailed', { reason: 'the image registry does not answer' })
  }
}
