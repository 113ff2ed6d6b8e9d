import type { IncomingMessage } from 'node:http'
import type { PartName } from '../../domain/part-name.ts'
import { PlatformPart } from '../../domain/platform-part.ts'

const admitted = new WeakMap<IncomingMessage, PartName>()

/** Notes that a request comes from this part of a host, as the certificate of its connection says. */
export function notePart(request: IncomingMessage, part: PartName): void {
  admitted.set(request, part)
}

/** The host whose agent sent a request. Undefined if it came over a connection without its certificate. */
export function hostBehind(request: IncomingMessage): string | undefined {
  return hostOf(request, PlatformPart.Agent)
}

/** The host whose gateway sent a request. Undefined if it came over a connection without its certificate. */
export function gatewayBehind(request: IncomingMessage): string | undefined {
  return hostOf(request, PlatformPart.Gateway)
}

/** Whether an API or a worker on another machine sent a request, as its certificate says. */
export function isFromControl(request: IncomingMessage): boolean {
  const part = admitted.get(request)?.part
  return part === PlatformPart.Api || part === PlatformPart.Worker
}

const fromPublic = new WeakSet<IncomingMessage>()

/** Notes that a request comes from the public, over the connection of a gateway that joined. */
export function notePublic(request: IncomingMessage): void {
  fromPublic.add(request)
}

export function isFromPublic(request: IncomingMessage): boolean {
  return fromPublic.has(request)
}

function hostOf(request: IncomingMessage, part: PlatformPart): string | undefined {
  const behind = admitted.get(request)
  return behind?.part === part ? behind.id : undefined
}
