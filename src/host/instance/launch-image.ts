import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import { defaultHardQuotas } from '../../domain/account/quotas.ts'
import type { ImageRequest } from '../images/images.ts'

const mebibyte = 1024 * 1024

/** The image that a start asks the host for. */
export function imageOf({
  image,
  userUuid,
  imageQuotaMb = defaultHardQuotas.imageMb,
}: LaunchSpec): ImageRequest {
  return { reference: image, userUuid, quotaBytes: imageQuotaMb * mebibyte }
}
