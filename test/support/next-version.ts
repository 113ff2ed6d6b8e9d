import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setupFileName } from '../../src/launch/installed.ts'
import { ownCheckout } from '../../src/launch/own-checkout.ts'

/** A checkout of a later version, which is set up. */
export interface NextVersion {
  readonly checkout: string
  readonly version: string
  /** Replaces a text in one of its files. */
  change(file: string, from: string, to: string): void
  remove(): void
}

const copied = ['src', 'workflows', 'activities', 'setup', 'temporal-config', 'package.json', setupFileName]

/** Makes this checkout's code a version that comes after it. */
export function makeNextVersion(version: string): NextVersion {
  const checkout = mkdtempSync(path.join(tmpdir(), 'roost-next-'))
  // The parts have users of their own, and read it.
  chmodSync(checkout, 0o755)
  for (const name of copied)
    cpSync(path.join(ownCheckout, name), path.join(checkout, name), { recursive: true })
  symlinkSync(path.join(ownCheckout, 'node_modules'), path.join(checkout, 'node_modules'))
  const change = (file: string, from: string, to: string): void => {
    const at = path.join(checkout, file)
    const before = readFileSync(at, 'utf8')
    if (!before.includes(from)) throw new Error(`${file} has no '${from}'`)
    writeFileSync(at, before.replace(from, to))
  }
  const { version: own } = JSON.parse(readFileSync(path.join(checkout, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  change('package.json', `"version": "${own}"`, `"version": "${version}"`)
  return { checkout, version, change, remove: () => rmSync(checkout, { recursive: true, force: true }) }
}
