import { soundTraceparent } from '../../primitives/traces.ts'
import type { HostLeaseEvent } from '../../domain/standby/host-lease-state.ts'
import type {
  GatewayMessage,
  HeldShare,
  InstanceCounts,
  InstanceLoad,
  ShareChange,
} from '../../domain/standby/lease-protocol.ts'

/** A line does not belong to the protocol. The host should not trust its sender any more. */
export class MessageError extends Error {
  override readonly name = 'MessageError'
}

/**
 * The most ports in one message. A gateway names the ports of one service, and the API allows fewer than
 * this. The bound is for a gateway that names others.
 */
const portsMax = 64
const idMaxLength = 128
/**
 * The most items of a list. Each is about one instance, and the private network of a host, a /16, has no more
 * addresses.
 */
const listMax = 65_536

type Fields = Readonly<Record<string, unknown>>

/**
 * Checks a message of a gateway. Throws `MessageError`. Unknown fields are ignored, because the gateway may
 * be newer than the host. For the same reason a message of an unknown kind is to be ignored: undefined.
 */
export function gatewayMessage(line: object): GatewayMessage | undefined {
  const fields = line as Fields
  const kind = fields['kind']
  if (typeof kind !== 'string') throw new MessageError('a line has no kind')
  return Object.hasOwn(readers, kind) ? readers[kind as Kind](fields) : undefined
}

type InstanceMessage = Extract<GatewayMessage, { readonly instance: string }>

/** The event of a message that is about one instance. */
export function leaseEvent(message: InstanceMessage, gateway: string): HostLeaseEvent {
  const { instance: _known, ...rest } = message
  const { traceparent: _place, ...said } = { traceparent: undefined, ...rest }
  return said.kind === 'idle' ? { ...said, kind: 'returned', gateway } : { ...said, gateway }
}

type Kind = GatewayMessage['kind']

const readers: { readonly [K in Kind]: (fields: Fields) => Extract<GatewayMessage, { kind: K }> } = {
  hello: (fields) => ({
    kind: 'hello',
    gatewayId: text(fields, 'gatewayId'),
    held: list(fields, 'held').map((each) => ({
      instance: text(each, 'instance'),
      boot: count(each, 'boot'),
      epoch: count(each, 'epoch'),
    })),
    ...(fields['shares'] === undefined
      ? {}
      : {
          shares: list(fields, 'shares').map((each) => ({
            instance: text(each, 'instance'),
            ...heldShare(each),
          })),
        }),
  }),
  open: (fields) => ({
    kind: 'open',
    ...leaseOf(fields),
    ports: portsOf(fields),
    ...(fields['limit'] === undefined ? {} : { limit: count(fields, 'limit') }),
    ...(fields['patient'] === true ? { patient: true } : {}),
    ...traceOf(fields),
  }),
  withdraw: (fields) => ({ kind: 'withdraw', ...leaseOf(fields) }),
  idle: (fields) => ({
    kind: 'idle',
    ...leaseOf(fields),
    quietMs: amount(fields, 'quietMs'),
    ...(fields['gave'] === undefined ? {} : { gave: shareChange(object(fields, 'gave')) }),
  }),
  want: (fields) => ({ kind: 'want', instance: text(fields, 'instance'), ...heldShare(fields) }),
  gave: (fields) => ({ kind: 'gave', instance: text(fields, 'instance'), ...shareChange(fields) }),
  drained: (fields) => ({ kind: 'drained', instance: text(fields, 'instance'), boot: count(fields, 'boot') }),
  load: (fields) => ({ kind: 'load', loads: list(fields, 'loads').map(loadOf) }),
  counts: (fields) => ({ kind: 'counts', counts: list(fields, 'counts').map(countsOf) }),
  reported: (fields) => ({ kind: 'reported', number: count(fields, 'number') }),
  beat: () => ({ kind: 'beat' }),
}

/** What is no sound place is ignored: a trace is never worth a lease. */
function traceOf(fields: Fields): { readonly traceparent?: string } {
  const traceparent = soundTraceparent(fields['traceparent'])
  return traceparent === undefined ? {} : { traceparent }
}

function leaseOf(fields: Fields): { readonly instance: string; readonly epoch: number } {
  return { instance: text(fields, 'instance'), epoch: count(fields, 'epoch') }
}

function shareChange(fields: Fields): ShareChange {
  return { memoryBoot: count(fields, 'memoryBoot'), count: count(fields, 'count') }
}

function heldShare(fields: Fields): HeldShare {
  return { ...shareChange(fields), limit: count(fields, 'limit') }
}

function countsOf(fields: Fields): InstanceCounts {
  return {
    instance: text(fields, 'instance'),
    connections: count(fields, 'connections'),
    requests: count(fields, 'requests'),
    queued: count(fields, 'queued'),
    handledMore: count(fields, 'handledMore'),
  }
}

function loadOf(fields: Fields): InstanceLoad {
  const told = fields['handledTold'] === undefined ? {} : { handledTold: count(fields, 'handledTold') }
  return { ...countsOf(fields), inFlight: amount(fields, 'inFlight'), ...told }
}

function portsOf(fields: Fields): readonly number[] {
  const ports = fields['ports']
  const isPort = (port: unknown): port is number =>
    typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
  if (!Array.isArray(ports) || ports.length > portsMax || !ports.every(isPort)) {
    throw new MessageError(`'ports' must be a list of at most ${String(portsMax)} ports`)
  }
  return ports
}

function text(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '' && value.length <= idMaxLength) return value
  throw new MessageError(`'${name}' must be a text of at most ${String(idMaxLength)} characters`)
}

function count(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new MessageError(`'${name}' must be a whole number of at least 0`)
}

function amount(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  throw new MessageError(`'${name}' must be a number of at least 0`)
}

function object(fields: Fields, name: string): Fields {
  const value = fields[name]
  if (typeof value === 'object' && value !== null) return value as Fields
  throw new MessageError(`'${name}' must be an object`)
}

function list(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name]
  const isItem = (item: unknown): item is Fields => typeof item === 'object' && item !== null
  if (Array.isArray(value) && value.length <= listMax && value.every(isItem)) return value
  throw new MessageError(`'${name}' must be a list of objects`)
}
