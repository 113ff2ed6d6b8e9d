import { Router } from '@koa/router'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { requestError } from '../../contract/errors.ts'
import { closed } from '../../contract/fields.ts'
import { maxChainLength, maxPrivateKeyLength } from '../../contract/limits.ts'
import { isBesideId } from '../../domain/part-name.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import { keepMetroCertificate } from '../../db/service/metro-certificate.ts'
import { certificateOf } from '../../x509/key-pair.ts'
import { issuePartCertificate, UnusablePublicKey } from '../../trust/part-authority.ts'
import type { ApiDeps } from '../deps.ts'
import { readBody } from '../middleware/read-body.ts'
import type { RequestState } from '../request-state.ts'
import { requireGatewayToken } from './host-credentials.ts'
import { messageReader } from './message-reader.ts'

/** Parts that run beside the API ask for their certificates here. An API issues its own. */
const partSchema = closed({
  part: Type.Unsafe<'worker' | 'gateway'>({
    type: 'string',
    enum: [PlatformPart.Worker, PlatformPart.Gateway],
  }),
  id: Type.String({ maxLength: 63 }),
  publicKey: Type.String({ maxLength: 1_000 }),
})
const readPart = messageReader(partSchema, 'certificate request')

export function partRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ prefix: '/internal/parts', sensitive: true })
  router.post('/certificate', requireGatewayToken(deps.settings.gatewayToken), readBody(), async (ctx) => {
    ctx.state.route = 'internal.part-certificate'
    const { authority } = deps
    if (authority === undefined) throw requestError('noEndpoint', { path: ctx.path })
    const { part, id, publicKey } = parsePart(ctx.state.body)
    const wanted = { name: { part, id }, publicKey, nowMs: deps.nowMs() }
    const certificate = await issuePartCertificate(authority, wanted).catch((cause: unknown) => {
      if (!(cause instanceof UnusablePublicKey)) throw cause
      throw malformed('publicKey', cause.message)
    })
    ctx.body = { certificate, authority: authority.chain }
  })
  return router
}

/** The gateway beside the API tells here which certificate the metro domain has. */
const metroSchema = closed({
  domain: Type.String({ maxLength: 253 }),
  chain: Type.String({ maxLength: maxChainLength }),
  key: Type.String({ maxLength: maxPrivateKeyLength }),
})
const metroPlace = 'metro certificate'
export const readMetro = messageReader(metroSchema, metroPlace)

export function metroRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ prefix: '/internal/metro-certificate', sensitive: true })
  router.put('/', requireGatewayToken(deps.settings.gatewayToken), readBody(), async (ctx) => {
    ctx.state.route = 'internal.metro-certificate'
    const told = parseMetro(ctx.state.body)
    await keepMetroCertificate(deps, told)
    ctx.status = 204
  })
  return router
}

function parseMetro(body: unknown): Static<typeof metroSchema> {
  const told = readMetro(body)
  try {
    certificateOf(told)
  } catch {
    // The message of the error may have parts of what was sent, which is a secret.
    throw requestError('invalidContent', {
      name: 'chain',
      place: metroPlace,
      reason: 'it is no certificate with its key',
    })
  }
  return told
}

export function parsePart(body: unknown): Static<typeof partSchema> {
  const asked = readPart(body)
  if (!isBesideId(asked.id)) throw malformed('id', 'it is no id of a part beside the API')
  return asked
}

function malformed(name: string, reason: string) {
  return requestError('invalidContent', { name, place: 'the certificate request', reason })
}
