import type { ImageRequest } from '../../src/host/images/images.ts'

export const annUuid = '00000000-0000-4000-8000-00000000000a'
export const bobUuid = '00000000-0000-4000-8000-00000000000b'

/** What a start of a user's asks for; ann's where nobody is named. */
export function wanted(reference: string, userUuid = annUuid): ImageRequest {
  return { reference, userUuid, quotaBytes: 16 * 1024 ** 3 }
}
