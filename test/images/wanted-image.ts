import type { ImageRequest } from '../../src/host/images/images.ts'

export const annUuid = '00000000-0000-4000-8000-00000000000a'
export const bobUuid = '00000000-0000-4000-8000-00000000000b'

/** A user's request for an image. The user is ann if none is given. */
export function wanted(reference: string, userUuid = annUuid): ImageRequest {
  return { reference, userUuid, quotaBytes: 16 * 1024 ** 3 }
}
