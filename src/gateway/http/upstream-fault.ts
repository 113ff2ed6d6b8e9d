import { errors } from 'undici'
import { HttpFailure } from './http-failure.ts'
import { UpstreamFault } from './request-observer.ts'
import { ConnectTimeout } from './upstream-address.ts'

/** How an instance failed, from what its connection threw. */
export function faultOf(error: unknown): UpstreamFault {
  if (
    error instanceof ConnectTimeout ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  ) {
    return UpstreamFault.TimedOut
  }
  if (error instanceof errors.HeadersOverflowError) return UpstreamFault.TooLarge
  const code = codeOf(error)
  if (code === 'HPE_HEADER_OVERFLOW') return UpstreamFault.TooLarge
  const malformed =
    error instanceof errors.HTTPParserError || error instanceof errors.ResponseContentLengthMismatchError
  if (malformed || code.startsWith('HPE_')) {
    return UpstreamFault.Malformed
  }
  if (refusedCodes.has(code)) return UpstreamFault.Refused
  const message = error instanceof Error ? error.message : ''
  return message.startsWith('bad ') ? UpstreamFault.Malformed : UpstreamFault.Reset
}

/** An instance that ends does this to its connections, whatever its application is like. */
export function endsWithInstance(fault: UpstreamFault): boolean {
  return fault === UpstreamFault.Refused || fault === UpstreamFault.Reset
}

export function failureOfFault(
  fault: UpstreamFault,
  { instanceEnds }: { readonly instanceEnds: boolean },
): HttpFailure {
  const ended = instanceEnds && endsWithInstance(fault)
  return new HttpFailure(
    fault === UpstreamFault.TimedOut ? 504 : 502,
    ended ? 'The application was stopped before its answer.' : sentences[fault],
  )
}

const sentences: Readonly<Record<UpstreamFault, string>> = {
  [UpstreamFault.Refused]: 'The application does not accept connections.',
  [UpstreamFault.Reset]: 'The application closed the connection before its answer.',
  [UpstreamFault.Malformed]: 'The application gave an answer that is not valid HTTP.',
  [UpstreamFault.TooLarge]: 'The header of the application’s answer is too large.',
  [UpstreamFault.TimedOut]: 'The application did not answer in time.',
}

const refusedCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
])

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** What the client sent can not be said upstream: it is the one to blame. */
export function unspeakable(error: unknown): HttpFailure | undefined {
  const blamed = error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError
  return blamed ? new HttpFailure(400, 'A header of the request is not valid.') : undefined
}
