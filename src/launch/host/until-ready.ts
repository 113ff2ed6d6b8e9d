import { Agent, request } from 'undici'
import { serverUrl } from '../../domain/host-and-port.ts'
import { fullName } from '../../domain/part-name.ts'
import type { PartName } from '../../domain/part-name.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { untilSucceeds } from '../readiness.ts'

const answerMs = 2_000

/** Resolves once a part takes work. It says so to everybody, so no certificate is shown to it. */
export async function untilReady(
  place: { readonly host: string; readonly port: number; readonly name: PartName },
  { authority }: PartIdentity,
  signal: AbortSignal,
): Promise<void> {
  const servername = fullName(place.name)
  const dispatcher = new Agent({ connect: { ca: authority, servername }, allowH2: false })
  const url = `${serverUrl('https', place)}/readyz`
  const ask = async (): Promise<void> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    const answer = await request(url, { dispatcher, headers: { host: servername }, signal: limit })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`the ${place.name.part} answers ${answer.statusCode}`)
  }
  try {
    await untilSucceeds(ask, signal)
  } finally {
    await dispatcher.destroy()
  }
}
