import type { PartName } from '../../src/domain/part-name.ts'
import { publicKeyOf } from '../../src/trust/kept-identity.ts'
import { issuePartCertificate } from '../../src/trust/part-authority.ts'
import type { PartIdentity } from '../../src/trust/part-identity.ts'
import { makeKey } from '../../src/x509/key-pair.ts'
import type { KeyPairPem } from '../../src/x509/key-pair.ts'

/** What a part with this name shows, with a certificate that was issued at `nowMs`. */
export async function identityOf(
  authority: KeyPairPem,
  name: PartName,
  options: { readonly nowMs?: number; readonly key?: string } = {},
): Promise<PartIdentity> {
  const { nowMs = Date.now(), key = makeKey() } = options
  const certificate = await issuePartCertificate(authority, { name, publicKey: publicKeyOf(key), nowMs })
  return { key, certificate, authority: authority.chain }
}
