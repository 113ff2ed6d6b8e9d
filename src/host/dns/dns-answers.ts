import { AUTHORITATIVE_ANSWER, decode, encode } from 'dns-packet'
import type { Answer, Packet, Question } from 'dns-packet'
import { isAmongHosts } from '../../domain/host/private-address.ts'
import type { PrivateNames } from './private-names.ts'

/**
 * How long a resolver may keep an answer: long enough for a burst of questions, and so short that a rename
 * shows within a second.
 */
const answerTtlS = 1
/**
 * The largest UDP message that our answers say we accept. It is the usual size, which no network cuts into
 * fragments.
 */
const udpPayloadBytes = 1_232
/** The largest message that counts as a question. */
export const maxQuestionBytes = 1_024
const headerBytes = 12
/** The most addresses of one answer. With the longest name they stay below the 512 bytes of plain DNS. */
const maxAddresses = 5
/** The most records in the additional part of a question, such as EDNS and a signature. */
const maxAdditional = 4

export const domain = 'internal'
const reverseDomain = 'in-addr.arpa'

const rcode = { formErr: 1, servFail: 2, nxDomain: 3, notImp: 4, refused: 5 } as const
const flagBits = {
  response: 0x8000,
  opcode: 0x7800,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
} as const

/** What the server does with a message from an instance. */
export type DnsVerdict =
  | { readonly kind: 'answer'; readonly message: Buffer }
  /** The name is not ours. The host's nameserver is asked, or the question is refused. */
  | { readonly kind: 'forward' }
  /** The message is no question, so it gets no answer. */
  | { readonly kind: 'drop' }

export interface Asker {
  readonly names: PrivateNames
  readonly userUuid: string
  /** The address of the instance that asks. */
  readonly ip: string
}

/** Decides what to do with a message. It never throws, whatever the bytes are. */
export function judgeQuestion(message: Buffer, asker: Asker): DnsVerdict {
  if (message.length < headerBytes || message.length > maxQuestionBytes) return { kind: 'drop' }
  const flags = message.readUInt16BE(2)
  if ((flags & flagBits.response) !== 0) return { kind: 'drop' }
  if ((flags & flagBits.opcode) !== 0) return failure(message, rcode.notImp)
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at))
  if (questions !== 1 || answers !== 0 || authorities !== 0 || (additionals ?? 0) > maxAdditional)
    return failure(message, rcode.formErr)
  try {
    return judge(message, decode(message), asker)
  } catch {
    return failure(message, rcode.formErr)
  }
}

function judge(message: Buffer, packet: Packet, asker: Asker): DnsVerdict {
  const question = packet.questions?.[0]
  if (question === undefined) return failure(message, rcode.formErr)
  // The package's type lists only some of the question types. `ANY`, zone transfers and types that have
  // only
  // a number come as other strings.
  const type: string = question.type
  if ((question.class ?? 'IN') !== 'IN' || type === 'AXFR' || type === 'IXFR')
    return failure(message, rcode.refused)
  const name = question.name.toLowerCase()
  const found = ownName(name, type, { ...asker, turn: message.readUInt16BE(0) })
  if (found === undefined) return { kind: 'forward' }
  // The package encodes only these bytes as they were in the question.
  if (!printable.test(name)) return failure(message, rcode.formErr)
  const answers = found.records.map((record) => ({ ...record, name: question.name }))
  return { kind: 'answer', message: answer(message, packet, question, { ...found, answers }) }
}

const printable = /^[\x21-\x7e]+$/

interface Found {
  readonly exists: boolean
  readonly zone: string
  readonly records: readonly { readonly type: 'A' | 'PTR'; readonly ttl: number; readonly data: string }[]
}

/** A question, with a number that says which of several addresses is the first one. */
interface Turn extends Asker {
  readonly turn: number
}

/** What is known of a name in one of our zones. Returns undefined for any other name. */
function ownName(name: string, type: string, asker: Turn): Found | undefined {
  const { names, userUuid } = asker
  if (name === domain) return { exists: true, zone: domain, records: [] }
  if (name.endsWith(`.${domain}`)) {
    const own = name.slice(0, -domain.length - 1)
    const address = names.addressOf(userUuid, own)
    const addresses = address === undefined ? [] : [address]
    return (
      addressFound(addresses, type) ?? { exists: names.hasBelow(userUuid, own), zone: domain, records: [] }
    )
  }
  // A name without a dot is looked for among the instances first. That hides no public name, because none
  // directly below the root has an address.
  if (!name.includes('.')) {
    return type === 'A' || type === 'AAAA' ? addressFound(relativeAddresses(name, asker), type) : undefined
  }
  return name.endsWith(`.${reverseDomain}`) ? reverseFound(name, type, asker) : undefined
}

/**
 * The addresses of a name without a dot. It is looked for beside the asker first: `db` is `db.shop` to
 * `web.shop`, and to the replica `web-2.web.shop` too. So instances whose names end alike find each other
 * by short names. Of several instances with one name, each is the first one by turns.
 */
function relativeAddresses(name: string, { names, userUuid, ip, turn }: Turn): readonly string[] {
  const labels = names.nameAt(userUuid, ip)?.split('.') ?? []
  for (let at = 1; at < labels.length; at++) {
    const found = names.addressesOf(userUuid, [name, ...labels.slice(at)].join('.'))
    if (found.length === 0) continue
    const first = turn % found.length
    return [...found.slice(first), ...found.slice(0, first)].slice(0, maxAddresses)
  }
  const address = names.addressOf(userUuid, name)
  return address === undefined ? [] : [address]
}

function addressFound(addresses: readonly string[], type: string): Found | undefined {
  if (addresses.length === 0) return undefined
  const records =
    type === 'A' || type === 'ANY'
      ? addresses.map((data) => ({ type: 'A', ttl: answerTtlS, data }) as const)
      : []
  return { exists: true, zone: domain, records }
}

/** Addresses of instances are ours on whatever host they are. */
function reverseFound(name: string, type: string, { names, userUuid }: Asker): Found | undefined {
  const numbers = name
    .slice(0, -reverseDomain.length - 1)
    .split('.')
    .toReversed()
  const [first = '', second = ''] = numbers
  if (!isAmongHosts(`${first}.${second}.0.0/16`)) return undefined
  const zone = `${second}.${first}.${reverseDomain}`
  const own = names.nameAt(userUuid, numbers.join('.'))
  if (own === undefined) return { exists: numbers.length < 4, zone, records: [] }
  const data = `${own}.${domain}`
  const records = type === 'PTR' || type === 'ANY' ? [{ type: 'PTR', ttl: answerTtlS, data } as const] : []
  return { exists: true, zone, records }
}

function answer(
  message: Buffer,
  packet: Packet,
  question: Question,
  found: { readonly exists: boolean; readonly zone: string; readonly answers: Answer[] },
): Buffer {
  const asksEdns = packet.additionals?.some((record) => record.type === 'OPT') === true
  return encode({
    type: 'response',
    id: message.readUInt16BE(0),
    flags:
      AUTHORITATIVE_ANSWER |
      (message.readUInt16BE(2) & flagBits.recursionDesired) |
      flagBits.recursionAvailable |
      (found.exists ? 0 : rcode.nxDomain),
    questions: [question],
    answers: found.answers,
    authorities: found.answers.length > 0 ? [] : [startOfAuthority(found.zone)],
    additionals: asksEdns ? [ednsRecord] : [],
  })
}

/**
 * The SOA record of a zone. Its minimum says how long a resolver may remember that a name does not exist.
 */
function startOfAuthority(zone: string): Answer {
  const data = {
    mname: `roost.${domain}`,
    rname: `hostmaster.${domain}`,
    serial: 1,
    refresh: answerTtlS,
    retry: answerTtlS,
    expire: answerTtlS,
    minimum: answerTtlS,
  }
  return { type: 'SOA', name: zone, ttl: answerTtlS, data }
}

const ednsRecord: Answer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: udpPayloadBytes,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
}

function failure(message: Buffer, code: number): DnsVerdict {
  return { kind: 'answer', message: failureMessage(message, code) }
}

/**
 * An error answer that consists of the header alone. Resolvers understand it, and it repeats no part of a
 * message that could not be read.
 */
function failureMessage(message: Buffer, code: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  message.copy(header, 0, 0, 4)
  const kept = message.readUInt16BE(2) & (flagBits.opcode | flagBits.recursionDesired)
  header.writeUInt16BE(flagBits.response | kept | flagBits.recursionAvailable | code, 2)
  return header
}

/**
 * The refusal of a well-formed question. It contains the question, because some resolvers insist on that.
 */
export function refusal(message: Buffer, why: 'refused' | 'servFail'): Buffer {
  const end = questionEnd(message)
  const body = end === undefined ? Buffer.alloc(0) : message.subarray(headerBytes, end)
  const header = failureMessage(message, rcode[why])
  if (end !== undefined) header.writeUInt16BE(1, 4)
  return Buffer.concat([header, body])
}

/**
 * The offset at which the only question ends; undefined if the message ends before that. The name in a
 * question holds no compression pointers.
 */
export function questionEnd(message: Buffer): number | undefined {
  let at = headerBytes
  for (let length = message[at]; length !== 0; length = message[at]) {
    if (length === undefined || length > 63) return undefined
    at += length + 1
  }
  const end = at + 5
  return end <= message.length ? end : undefined
}
