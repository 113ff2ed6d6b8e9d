import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { generateRegistrySigningKey } from '../registry/signing-key.ts'
import { makePartAuthority } from '../trust/part-authority.ts'

/**
 * The files of `<data dir>/keys`. They are made at the first start and never replaced: without them,
 * everything that they protect would be lost.
 */
export interface KeyFiles {
  readonly secretKeyFile: string
  readonly joinTokenFile: string
  readonly gatewayTokenFile: string
  readonly registryKeyFile: string
  readonly registryCertFile: string
  readonly authorityKeyFile: string
  readonly authorityCertFile: string
  /** Present if further hosts may join. Only then there is an authority for the installation's parts. */
  readonly hostsAddress?: object | undefined
}

const secretKeyBytes = 32

/** Makes the files that are missing. Nobody but the owner can read them. */
export async function ensureKeys(files: KeyFiles, nowMs: number): Promise<void> {
  await ensureSecret(files.secretKeyFile, () => randomBytes(secretKeyBytes).toString('base64'))
  await ensureSecret(files.joinTokenFile, () => randomBytes(secretKeyBytes).toString('base64url'))
  await ensureSecret(files.gatewayTokenFile, () => randomBytes(secretKeyBytes).toString('base64url'))
  await ensurePair({ key: files.registryKeyFile, certificate: files.registryCertFile }, async () => {
    return await generateRegistrySigningKey(nowMs)
  })
  if (files.hostsAddress === undefined) return
  await ensurePair({ key: files.authorityKeyFile, certificate: files.authorityCertFile }, async () => {
    const { chain, key } = await makePartAuthority(nowMs)
    return { certificate: chain, key }
  })
}

/** Returns the text of a secret, which is made the first time. */
export async function ensureSecret(file: string, make: () => string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  if ((await textOf(file)) === undefined) await writeOnce(file, `${make()}\n`)
  return (await readFile(file, 'utf8')).trim()
}

/** Writes the certificate before the key, because an existing key means that the pair is complete. */
async function ensurePair(
  files: { readonly key: string; readonly certificate: string },
  make: () => Promise<{ readonly key: string; readonly certificate: string }>,
): Promise<void> {
  if ((await textOf(files.key)) !== undefined) return
  const made = await make()
  await mkdir(path.dirname(files.key), { recursive: true, mode: 0o700 })
  await mkdir(path.dirname(files.certificate), { recursive: true, mode: 0o700 })
  await rm(files.certificate, { force: true })
  await writeOnce(files.certificate, made.certificate)
  await writeOnce(files.key, made.key)
}

/** Writes a file that appears complete or not at all. It never replaces an existing file. */
export async function writeOnce(file: string, text: string): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.new`
  await writeFile(unfinished, text, { mode: 0o600 })
  await chmod(unfinished, 0o600)
  try {
    await link(unfinished, file)
  } finally {
    await rm(unfinished, { force: true })
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
