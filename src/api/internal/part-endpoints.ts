import { Router } from '@koa/router'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { RequestError, requestError } from '../../contract/errors.ts'
import { closed } from '../../contract/fields.ts'
import { problemsOf } from '../../contract/request/validation-problems.ts'
import { strictValidator } from '../../contract/request/validators.ts'
import { isBesideId } from '../../domain/part-name.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import { issuePartCertificate, UnusablePublicKey } from '../../trust/part-authority.ts'
import type { ApiDeps } from '../deps.ts'
import { readBody } from '../middleware/read-body.ts'
import type { RequestState } from '../request-state.ts'
import { requireGatewayToken } from './host-credentials.ts'

/** Parts that run beside the API ask for their certificates here. An API issues its own. */
const partSchema = closed({
  part: Type.Unsafe<'worker' | 'gateway'>({
    type: 'string',
    enum: [PlatformPart.Worker, PlatformPart.Gateway],
  }),
  id: Type.String({ maxLength: 63 }),
  publicKey: Type.String({ maxLength: 1_000 }),
})
const validatePart = strictValidator(partSchema)

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

function parsePart(body: unknown): Static<typeof partSchema> {
  const problems = problemsOf(validatePart(body), {
    place: 'certificate request',
    prefix: '',
    schema: partSchema,
  })
  if (problems.length > 0) throw new RequestError(problems)
  const asked = body as Static<typeof partSchema>
  if (!isBesideId(asked.id)) throw malformed('id', 'it is no id of a part beside the API')
  return asked
}

function malformed(name: string, reason: string) {
  return requestError('invalidContent', { name, place: 'the certificate request', reason })
}
