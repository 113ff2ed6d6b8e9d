import type { TokenRecord } from '../../db/account/tokens.ts'
import { listOwnTokens } from '../../db/account/tokens.ts'
import type { ObjectKind } from '../named-objects.ts'

/** How the tokens are found that a request names. They have no names. */
export const ownTokens: ObjectKind<TokenRecord> = {
  kind: 'token',
  async find(database, { userUuid }, identifiers) {
    const uuids = identifiers.flatMap((one) => ('uuid' in one ? [one.uuid] : []))
    const found = await listOwnTokens(database, userUuid, uuids)
    return identifiers.map((one) => found.find((token) => 'uuid' in one && token.uuid === one.uuid))
  },
}
