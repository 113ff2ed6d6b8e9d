/** The status codes of gRPC that the relay answers with or looks at. */
export const GrpcCode = {
  Ok: 0,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
} as const
export type GrpcCode = (typeof GrpcCode)[keyof typeof GrpcCode]

/** How a call ends that gets no message: a code, and a sentence for whoever reads the host's log. */
export class GrpcStatus {
  readonly code: GrpcCode
  readonly message: string

  constructor(code: GrpcCode, message: string) {
    this.code = code
    this.message = message
  }
}

export function denied(message: string): GrpcStatus {
  return new GrpcStatus(GrpcCode.PermissionDenied, message)
}

export function invalid(message: string): GrpcStatus {
  return new GrpcStatus(GrpcCode.InvalidArgument, message)
}

/** The client of a host tries a call with this status again by itself. */
export function unavailable(message: string): GrpcStatus {
  return new GrpcStatus(GrpcCode.Unavailable, message)
}

/** What follows an answer of gRPC, or takes its place, in the form of header fields. */
export function statusFields(status: GrpcStatus): Readonly<Record<string, string>> {
  return { 'grpc-status': String(status.code), 'grpc-message': encodedText(status.message) }
}

/** gRPC wants `%` and all bytes that are not printable ASCII as `%` with two hexadecimal digits. */
function encodedText(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      return isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}
