import type { LaunchSpec } from '../../domain/node-protocol.ts'
import type { ImageRequest } from '../images/images.ts'

/** What a start asks for of the host's images. */
export function imageOf({ image, userUuid }: LaunchSpec): ImageRequest {
  return { reference: image, userUuid }
}
