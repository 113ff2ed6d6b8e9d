import { isJsonObject, parseJson } from '../../domain/json-text.ts'

/** The command `nft -j` printed something else than its list of objects. */
export class NftError extends Error {
  override readonly name = 'NftError'
}

/** The objects in the output of `nft -j`. The caller says what they are, because it asked for them. */
export function nftObjects(text: string): readonly object[] {
  const json = parseJson(text)
  const objects = isJsonObject(json) ? json['nftables'] : undefined
  if (Array.isArray(objects) && objects.every(isJsonObject)) return objects
  throw new NftError('nft -j printed no list of objects')
}
