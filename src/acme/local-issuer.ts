import { randomBytes, webcrypto } from 'node:crypto'
import { issueLeaf, makeRoot } from '../x509/authority.ts'
import { certificateOf, loadX509 } from '../x509/key-pair.ts'
import type { KeyPairPem } from '../x509/key-pair.ts'
import type { AuthorityRecord, AuthorityStore } from './authority-store.ts'
import { IssueError } from './issuer.ts'
import type { Issuer, OpenOrder } from './issuer.ts'

/** The name that is used in place of a directory's URL. */
export const localDirectory = 'local'

const dayMs = 86_400_000
/**
 * The lifetime of certificates. It is that of Let's Encrypt's certificates, so that renewals are the same
 * everywhere.
 */
const leafDays = 90
/** How long before their making certificates are valid, because clocks of clients may be a little behind. */
const backDatedMs = 3_600_000
/** The lifetime of an order. An order that nobody finalised in this time does not exist any more. */
const orderLifeMs = 7 * dayMs
/**
 * A root is replaced once less than this of its lifetime is left. People have to trust the new root by hand,
 * so the old one is kept as long as a certificate can be issued from it.
 */
const rootSparedMs = leafDays * dayMs

export interface LocalIssuerOptions {
  readonly store: AuthorityStore
  readonly nowMs?: () => number
}

/**
 * An authority of the installation's own, for any name. It asks for no proof, so a client that trusts its
 * root trusts the operator of this installation with every site there is. It keeps nothing but itself: an
 * order's URL says what was ordered, and a repeated download gives a certificate with the same serial number
 * and times.
 */
export function createLocalIssuer({ store, nowMs = Date.now }: LocalIssuerOptions): Issuer {
  return {
    name: 'the local authority',
    async open(names) {
      return openOrder(orderUrlOf({ names, atMs: nowMs(), serial: randomBytes(serialBytes).toString('hex') }))
    },
    async find(orderUrl) {
      const order = readOrderUrl(orderUrl)
      return order && nowMs() - order.atMs < orderLifeMs ? openOrder(orderUrl) : undefined
    },
    prove: () => Promise.resolve(),
    async finalise(orderUrl, csr) {
      await requestedKey(csr, orderOf(orderUrl))
    },
    async download(orderUrl, csr) {
      const order = orderOf(orderUrl)
      const publicKey = await requestedKey(csr, order)
      return issueLeaf(await ensureLocalAuthority(store, nowMs()), {
        names: order.names,
        publicKey,
        serialNumber: serialPrefix + order.serial,
        notBeforeMs: order.atMs - backDatedMs,
        notAfterMs: order.atMs + leafDays * dayMs,
      })
    },
    renewalWindow: () => Promise.resolve(undefined),
    caaIdentities: () => Promise.resolve([]),
  }
}

/**
 * Returns the authority itself. Makes it if it does not exist. Several processes may call this at once and
 * get the same authority.
 */
export async function ensureLocalAuthority(store: AuthorityStore, nowMs: number): Promise<KeyPairPem> {
  const kept = await store.find(localDirectory)
  if (kept && endsAtMs(kept) - nowMs > rootSparedMs) return pairOf(kept)
  // Roots of several installations may be in one list, so their names differ.
  const commonName = `Roost authority for custom domains ${randomBytes(3).toString('hex')}`
  return pairOf(await store.keep(localDirectory, await makeRoot({ commonName }, nowMs), kept))
}

function endsAtMs(record: AuthorityRecord): number {
  return certificateOf(pairOf(record)).validToDate.getTime()
}

function pairOf({ key, chain }: AuthorityRecord): KeyPairPem {
  if (chain === undefined) throw new Error('the local authority is kept without its certificate')
  return { key, chain }
}

interface LocalOrder {
  readonly names: readonly string[]
  readonly atMs: number
  /** The serial number in hexadecimal, without `serialPrefix`. */
  readonly serial: string
}

const subjectAlternativeNameOid = '2.5.29.17'
const scheme = 'local:'
const serialBytes = 15
/** The first byte of each serial number. It makes the number positive and without a leading zero. */
const serialPrefix = '52'

function openOrder(url: string): OpenOrder {
  return { url, state: 'ready', challenges: [] }
}

function orderUrlOf(order: LocalOrder): string {
  return scheme + Buffer.from(JSON.stringify(order)).toString('base64url')
}

/** Returns undefined if the order is of another issuer, which was configured before. */
function readOrderUrl(url: string): LocalOrder | undefined {
  if (!url.startsWith(scheme)) return undefined
  return JSON.parse(Buffer.from(url.slice(scheme.length), 'base64url').toString()) as LocalOrder
}

function orderOf(url: string): LocalOrder {
  const order = readOrderUrl(url)
  if (order === undefined) throw new IssueError('failed', 'the local authority does not know this order')
  return order
}

/**
 * The public key of a signing request. The request must be signed with that key and be for the names of the
 * order.
 */
async function requestedKey(csr: Buffer, { names }: LocalOrder): Promise<webcrypto.CryptoKey> {
  const x509 = await loadX509()
  try {
    const request = new x509.Pkcs10CertificateRequest(csr)
    const extension = request.getExtension(subjectAlternativeNameOid)
    const wanted = extension ? new x509.SubjectAlternativeNameExtension(extension.rawData).names.items : []
    const isOfOrder = wanted.length === names.length && wanted.every((each) => names.includes(each.value))
    if (isOfOrder && (await request.verify(webcrypto))) return await request.publicKey.export(webcrypto)
  } catch (cause) {
    throw new IssueError('failed', 'the local authority can not read the signing request', { cause })
  }
  throw new IssueError('failed', 'the names in the signing request are not those of the order')
}
