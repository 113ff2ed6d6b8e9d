import {
  apiAddressesPath,
  controlSettingsPath,
  gatewayCountsPath,
  partsBesideMetricsPath,
  partsBesidePath,
  workerRenewalPath,
} from '../../domain/host/control-role.ts'
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
  /** Where the processes of the API are. */
  Addresses: 'addresses',
  /** What the API and the worker of the part's machine need, if it has such a role. */
  ControlSettings: 'control-settings',
} as const
export type Answerer = (typeof Answerer)[keyof typeof Answerer]

interface Asked {
  readonly method: string
  readonly path: string
}

/** Who answers the part with this id. Undefined if the part may not ask for that. */
type Paths = (id: string, asked: Asked) => Answerer | undefined

/** What each part of another machine may ask for. */
const paths: Readonly<Record<PlatformPart, Paths>> = {
  [PlatformPart.Agent]: (id, { method, path }) => {
    const own = `/internal/nodes/${id}`
    if (method === 'POST' && path === `${own}/certificate`) return Answerer.Certificate
    if (method === 'GET' && path === `${own}/${apiAddressesPath}`) return Answerer.Addresses
    if (method === 'GET' && path === `${own}/${controlSettingsPath}`) return Answerer.ControlSettings
    if (path === own || path.startsWith(`${own}/`)) return Answerer.Api
    return method === 'GET' && path.startsWith('/v2/') ? Answerer.Registry : undefined
  },
  [PlatformPart.Gateway]: (_id, { method, path }) => {
    if (method === 'POST' && path === gatewayRenewalPath) return Answerer.Certificate
    return method === 'GET' && gatewayReads.has(path) ? Answerer.Api : undefined
  },
  [PlatformPart.Worker]: (_id, { method, path }) => {
    if (method !== 'POST') return undefined
    if (path === workerRenewalPath) return Answerer.Certificate
    return path === gatewayCountsPath ? Answerer.Api : undefined
  },
  [PlatformPart.Api]: (_id, { method, path }) => {
    if (method === 'POST') return path === gatewayCountsPath ? Answerer.Api : undefined
    return method === 'GET' && apiReads.has(path) ? Answerer.Api : undefined
  },
}

/** An API tells others its own metrics as it tells everybody on its machine. */
const apiReads: ReadonlySet<string> = new Set(['/metrics', partsBesidePath, partsBesideMetricsPath])
const gatewayReads: ReadonlySet<string> = new Set(['/internal/gateway/routes', sharedSettingsPath])

/** Who answers this request of a part. Undefined if the part may not ask for that. */
export function answererOf({ part, id }: PartName, asked: Asked): Answerer | undefined {
  return paths[part](id, asked)
}
