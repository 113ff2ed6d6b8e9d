import { gatewayRenewalPath, sharedSettingsPath } from '../../domain/host/gateway-role.ts'
import type { PartName } from '../../domain/part-name.ts'
import { PlatformPart } from '../../domain/platform-part.ts'

/** Who answers a request of a part. */
export const Answerer = {
  /** The endpoints of the API. */
  Api: 'api',
  /** The registry, which looks at the token of the request. */
  Registry: 'registry',
  /** The next certificate of the part, for the key that it has. */
  Certificate: 'certificate',
} as const
export type Answerer = (typeof Answerer)[keyof typeof Answerer]

interface Asked {
  readonly method: string
  readonly path: string
}

/** Who answers the part with this id. Undefined if the part may not ask for that. */
type Paths = (id: string, asked: Asked) => Answerer | undefined

/** What each part of a machine that joined may ask for. Parts that are not here may ask for nothing. */
const paths: Readonly<Partial<Record<PlatformPart, Paths>>> = {
  [PlatformPart.Agent]: (id, { method, path }) => {
    const own = `/internal/nodes/${id}`
    if (method === 'POST' && path === `${own}/certificate`) return Answerer.Certificate
    if (path === own || path.startsWith(`${own}/`)) return Answerer.Api
    return method === 'GET' && path.startsWith('/v2/') ? Answerer.Registry : undefined
  },
  [PlatformPart.Gateway]: (_id, { method, path }) => {
    if (method === 'POST' && path === gatewayRenewalPath) return Answerer.Certificate
    return method === 'GET' && gatewayReads.has(path) ? Answerer.Api : undefined
  },
}

const gatewayReads: ReadonlySet<string> = new Set(['/internal/gateway/routes', sharedSettingsPath])

/** Who answers this request of a part. Undefined if the part may not ask for that. */
export function answererOf({ part, id }: PartName, asked: Asked): Answerer | undefined {
  return paths[part]?.(id, asked)
}
