import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import { defaultHardQuotas } from '../../domain/account/quotas.ts'
import type { ImageRequest } from '../images/images.ts'

const mebibyte = 1024 * 1024

/** What a start asks for of the host's images. */
export function imageOf({
  image,
  userUuid,
  imageQuotaMb = defaultHardQuotas.imageMb,
}: LaunchSpec): ImageRequest {
  return { reference: image, userUuid, quotaBytes: imageQuotaMb * mebibyte }
}
