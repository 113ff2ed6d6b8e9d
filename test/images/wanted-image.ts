import type { ImageRequest } from '../../src/host/images/images.ts'

export const annUuid = '00000000-0000-4000-8000-00000000000a'
export const bobUuid = '00000000-0000-4000-8000-00000000000b'

/** The image that a user's start asks for; the user is ann if none is named. */
export function wanted(reference: string, userUuid = annUuid): ImageRequest {
  return { reference, userUuid, quotaBytes: 16 * 1024 ** 3 }
}
