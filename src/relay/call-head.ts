import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import { notCompressed } from './grpc-frame.ts'
import { GrpcStatus, invalid } from './grpc-status.ts'
import { relayedMethod } from './relayed-methods.ts'
import type { RelayedMethod } from './relayed-methods.ts'

/** The longest a call may take. The SDK allows 70 s for a poll and 30 s for all others. */
const longestWaitMs = 75_000
const longestCallMs = 35_000

/**
 * The fields of a host that are passed on: which SDK it has, and which servers and features that SDK knows.
 * Temporal refuses SDKs that are too old. All other fields are left out, above all those by which a caller
 * shows who it is or asks for a precedence.
 */
const passedFields = ['client-name', 'client-version', 'supported-server-versions', 'supported-features']
const passedValue = /^[\x20-\x7e]{1,256}$/

/** What the head of a call says. */
export interface CallHead {
  readonly path: string
  readonly method: RelayedMethod
  readonly limitMs: number
  readonly passed: OutgoingHttpHeaders
}

/** Reads the head of a call, or returns why the call is refused. */
export function readHead(headers: IncomingHttpHeaders): CallHead | GrpcStatus {
  const path = headers[':path'] ?? ''
  if (headers[':method'] !== 'POST' || !/^application\/grpc(\+proto)?$/.test(headers['content-type'] ?? '')) {
    return invalid('A call is a POST of the type application/grpc.')
  }
  const method = relayedMethod(path)
  if (method instanceof GrpcStatus) return method
  const encoding = headers['grpc-encoding'] ?? 'identity'
  if (encoding !== 'identity') return notCompressed('compressed messages')
  const longestMs = method.waits ? longestWaitMs : longestCallMs
  const passed = passedFields.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' && passedValue.test(value) ? [[name, value]] : []
  })
  return {
    path,
    method,
    limitMs: Math.min(longestMs, timeoutMs(headers['grpc-timeout']) ?? longestMs),
    passed: Object.fromEntries(passed) as OutgoingHttpHeaders,
  }
}

/** The units of gRPC in ms: hours, minutes, seconds, milliseconds, microseconds and nanoseconds. */
const unitsMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
}

/** Returns the time that a field such as `30000000u` gives, and undefined if it gives none. */
function timeoutMs(field: string | readonly string[] | undefined): number | undefined {
  const read = /^(?<count>\d{1,8})(?<unit>[HMSmun])$/.exec(String(field ?? ''))?.groups
  if (read === undefined) return undefined
  return Math.max(1, Math.ceil(Number(read['count']) * (unitsMs[String(read['unit'])] ?? 0)))
}
