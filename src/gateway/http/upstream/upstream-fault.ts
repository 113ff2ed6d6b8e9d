import { AnswerFault } from './answer-reader.ts'
import { HttpFailure } from '../http-failure.ts'
import { UpstreamFault } from '../request-observer.ts'
import { ConnectTimeout } from './upstream-address.ts'
import type { EndReason } from '../../traffic.ts'

/**
 * Returns how an instance failed. It is found from the error that the connection to the instance reported.
 */
export function faultOf(error: unknown): UpstreamFault {
  if (error instanceof ConnectTimeout) return UpstreamFault.TimedOut
  if (error instanceof AnswerFault) return error.fault
  const code = codeOf(error)
  if (code === 'HPE_HEADER_OVERFLOW') return UpstreamFault.TooLarge
  if (code.startsWith('HPE_')) return UpstreamFault.Malformed
  if (refusedCodes.has(code)) return UpstreamFault.Refused
  const message = error instanceof Error ? error.message : ''
  return message.startsWith('bad ') ? UpstreamFault.Malformed : UpstreamFault.Reset
}

/**
 * Whether the end of an instance may cause this fault on its connections, whatever its application does.
 */
export function endsWithInstance(fault: UpstreamFault): boolean {
  return fault === UpstreamFault.Refused || fault === UpstreamFault.Reset
}

/** Returns the answer to a fault. `ends` is the reason why the instance ends, if it does. */
export function failureOfFault(fault: UpstreamFault, ends: EndReason | undefined): HttpFailure {
  const ended = ends !== undefined && endsWithInstance(fault)
  return new HttpFailure(
    fault === UpstreamFault.TimedOut ? 504 : 502,
    ended ? endSentences[ends] : sentences[fault],
  )
}

const stopped = 'The application was stopped before its answer.'
const endSentences: Readonly<Record<EndReason, string>> = {
  close: stopped,
  gone: stopped,
  lost: 'The host of the application stopped answering before its answer.',
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
