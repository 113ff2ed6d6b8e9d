import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { X509Certificate } from 'node:crypto'
import { replaceFile } from '../../primitives/replace-file.ts'
import { writeOnce } from '../keys.ts'
import { certificateOf, UnusableCertificate } from '../../x509/key-pair.ts'
import type { KeyPairPem } from '../../x509/key-pair.ts'
import { issueWildcard, makeAuthority } from './local-authority.ts'

/**
 * The certificate of `*.<metro domain>`. It comes from the operator's files, or from a local authority that
 * is made at the first start and whose root people can trust. The files are in `<gateway
 * dir>/metro/<domain>/`, which only its owner can enter: `authority.pem` (key and certificate in one file,
 * so that they always belong together), `authority.crt` and `wildcard.pem`.
 */
export interface MetroCertificateOptions {
  readonly directory: string
  readonly metroDomain: string
  /** The operator's own files. Either both are defined or neither is. */
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
}

export interface MetroCertificate {
  readonly current: KeyPairPem
  /**
   * Stops the checks and waits for a check that is under way. After this call no event is reported, not even
   * by that check.
   */
  close(): Promise<void>
}

export interface MetroCertificateEvents {
  /** Called when another certificate is to be used from now on. */
  onChange(certificate: KeyPairPem): void
  onProblem(message: string, error?: unknown): void
}

const dayMs = 86_400_000
/**
 * A new certificate is issued when less than this of its 397 days is left. So a machine may be switched off
 * for a season.
 */
const renewBeforeMs = 90 * dayMs
/**
 * A root is replaced only when less than this of its lifetime is left, because people have to trust the new
 * root first.
 */
const rootSparedMs = 30 * dayMs
/** The time between two checks, in which replaced files and the day of a renewal are noticed. */
const lookEveryMs = 60_000

/**
 * Opens the certificate and keeps it up to date until `close`. Throws `UnusableCertificate` if the
 * operator's files can not be used.
 */
export async function openMetroCertificate(
  options: MetroCertificateOptions,
  events: MetroCertificateEvents,
  time: { readonly nowMs: () => number; readonly lookEveryMs?: number } = { nowMs: Date.now },
): Promise<MetroCertificate> {
  const look = () => currentCertificate(options, time.nowMs())
  let current = await look()
  warnOfNames(current, options, events)
  let looking: Promise<void> | undefined
  let closed = false
  const timer = setInterval(() => void (looking ??= lookAgain()), time.lookEveryMs ?? lookEveryMs)

  async function lookAgain(): Promise<void> {
    try {
      const found = await look()
      if (closed) return
      if (found.chain === current.chain && found.key === current.key) return
      current = found
      warnOfNames(current, options, events)
      events.onChange(current)
    } catch (error) {
      if (closed) return
      events.onProblem('the certificate of the metro domain could not be renewed; the last one stays', error)
    } finally {
      looking = undefined
    }
  }

  return {
    get current() {
      return current
    },
    close: async () => {
      closed = true
      clearInterval(timer)
      await looking
    },
  }
}

async function currentCertificate(options: MetroCertificateOptions, nowMs: number): Promise<KeyPairPem> {
  const { certFile, keyFile, metroDomain } = options
  if (certFile !== undefined && keyFile !== undefined) return readFiles(certFile, keyFile)
  if (certFile !== undefined || keyFile !== undefined) {
    throw new UnusableCertificate(
      'only one of ROOST_METRO_CERT_FILE and ROOST_METRO_KEY_FILE is set; set both or neither',
    )
  }
  const authority = await ensureAuthority(options, nowMs)
  const file = path.join(directoryOf(options), 'wildcard.pem')
  const kept = await readPair(file)
  if (kept && isUsable(kept, authority, nowMs)) return kept
  const issued = await issueWildcard(authority, metroDomain, nowMs)
  await replace(file, joined(issued))
  return issued
}

function isUsable(pair: KeyPairPem, authority: KeyPairPem, nowMs: number): boolean {
  const [leaf, root] = [certificateOf(pair), certificateOf(authority)]
  const left = endsAtMs(leaf) - nowMs
  // A certificate that ends on the same day as its authority can not be renewed to a later day.
  const isLast = endsAtMs(leaf) === endsAtMs(root) && left > 0
  return (left > renewBeforeMs || isLast) && beganAtMs(leaf) <= nowMs && leaf.verify(root.publicKey)
}

/**
 * Returns the local authority, and makes it if there is none yet. Several processes may call this at once
 * and get the same authority.
 */
export async function ensureAuthority(
  options: Pick<MetroCertificateOptions, 'directory' | 'metroDomain'>,
  nowMs: number,
): Promise<KeyPairPem> {
  const file = path.join(directoryOf(options), 'authority.pem')
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const kept = await readPair(file)
  const authority =
    kept && endsAtMs(certificateOf(kept)) - nowMs > rootSparedMs
      ? kept
      : await makeAnew(file, kept, options, nowMs)
  const rootFile = authorityFile(options)
  if ((await textOf(rootFile)) !== authority.chain) await replace(rootFile, authority.chain)
  return authority
}

/** The path of the file for people, which holds the root alone, without its key. */
export function authorityFile(options: Pick<MetroCertificateOptions, 'directory' | 'metroDomain'>): string {
  return path.join(directoryOf(options), 'authority.crt')
}

async function makeAnew(
  file: string,
  kept: KeyPairPem | undefined,
  { metroDomain }: Pick<MetroCertificateOptions, 'metroDomain'>,
  nowMs: number,
): Promise<KeyPairPem> {
  const made = await makeAuthority(metroDomain, nowMs)
  if (kept) {
    await replace(file, joined(made))
    return made
  }
  await writeOnce(file, joined(made)).catch((error: NodeJS.ErrnoException) => {
    // Another process was quicker, so its authority is used.
    if (error.code !== 'EEXIST') throw error
  })
  return (await readPair(file)) ?? made
}

function directoryOf({ directory, metroDomain }: Pick<MetroCertificateOptions, 'directory' | 'metroDomain'>) {
  return path.join(directory, 'metro', metroDomain)
}

async function readFiles(certFile: string, keyFile: string): Promise<KeyPairPem> {
  const pair = { chain: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') }
  try {
    certificateOf(pair)
  } catch (cause) {
    throw new UnusableCertificate(`${certFile} with ${keyFile}: ${(cause as Error).message}`, { cause })
  }
  return pair
}

const privateKeyBlock = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n?/

/** Returns undefined if the file does not exist. Throws `UnusableCertificate` if somebody changed it. */
async function readPair(file: string): Promise<KeyPairPem | undefined> {
  const text = await textOf(file)
  if (text === undefined) return undefined
  const pair = { chain: text.replace(privateKeyBlock, ''), key: privateKeyBlock.exec(text)?.[0] ?? '' }
  try {
    certificateOf(pair)
  } catch (cause) {
    throw new UnusableCertificate(`${file}: ${(cause as Error).message}; remove it, and a new one is made`, {
      cause,
    })
  }
  return pair
}

function joined({ key, chain }: KeyPairPem): string {
  return key + chain
}

async function replace(file: string, text: string): Promise<void> {
  await replaceFile(file, text, { mode: 0o600, durable: true, isShared: true })
}

async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

function endsAtMs(certificate: X509Certificate): number {
  return certificate.validToDate.getTime()
}

function beganAtMs(certificate: X509Certificate): number {
  return certificate.validFromDate.getTime()
}

/**
 * Warns of names that the certificate does not cover. The certificate is used anyway: the operator may know
 * the clients better.
 */
function warnOfNames(
  pair: KeyPairPem,
  { metroDomain }: MetroCertificateOptions,
  events: MetroCertificateEvents,
): void {
  const certificate = certificateOf(pair)
  for (const name of [`any.${metroDomain}`, metroDomain]) {
    if (certificate.checkHost(name) === undefined) {
      events.onProblem(`the certificate of the metro domain is not for ${name.replace(/^any\./, '*.')}`)
    }
  }
}
