import { rmSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startPebble } from './pebble.ts'
import type { Pebble } from './pebble.ts'
import { openPublicNames } from './public-names.ts'
import type { PublicNames } from './public-names.ts'
import { openStackInside } from './stack-inside.ts'
import type { StackInside } from './stack-inside.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

/**
 * A stack whose custom domains get their certificates from a real ACME authority, which checks challenges on
 * the real ports, 80 and 443. Its gateway listens on 127.0.0.2, because the shared stack may use these ports
 * of 127.0.0.1.
 */
export interface AcmeStack {
  readonly stack: Stack
  readonly inside: StackInside
  readonly pebble: Pebble
  /** The root of Pebble's certificates, PEM. */
  readonly root: string
  /** A client that trusts only that root. */
  readonly names: PublicNames
  /** Makes DNS lead the name to the gateway, for the authority and for the platform's own check. */
  point(host: string): Promise<void>
  remove(): Promise<void>
}

export const acmeAddress = '127.0.0.2'

export async function startAcmeStack(): Promise<AcmeStack> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-acme-'))
  const pebble = await startPebble({ httpPort: 80, tlsPort: 443 })
  const stack = await startStack({
    ROOST_ACME_DIRECTORY_URL: pebble.directoryUrl,
    ROOST_ACME_CA_FILE: pebble.caFile,
    ROOST_ACME_RESOLVER: pebble.resolver,
    ROOST_DIAGNOSIS_PRIVATE: 'on',
    ROOST_ACME_CONTACT: 'admin@example.test',
    ROOST_GATEWAY_HOST: acmeAddress,
  }).catch(async (error: unknown) => {
    await pebble.stop()
    throw error
  })
  const inside = await openStackInside(stack)
  const root = await pebble.root()
  const caFile = path.join(directory, 'root.crt')
  writeFileSync(caFile, root)
  const names = openPublicNames(stack, { address: acmeAddress, caFile })
  return {
    stack,
    inside,
    pebble,
    root,
    names,
    point: (host) => pebble.dns.setA(host, [acmeAddress]),
    async remove() {
      await Promise.all([names.close(), inside.close()])
      await stack.remove()
      await pebble.stop()
      rmSync(directory, { recursive: true })
    },
  }
}
