import { Agent, request } from 'undici'
import type { buildConnector } from 'undici'
import { kindName } from '../domain/part-name.ts'
import { PlatformPart } from '../domain/platform-part.ts'

/** The header that has TLS check that an API answers. */
export const apiHeader = { host: kindName(PlatformPart.Api) } as const

const answerMs = 5_000

/** Asks the API for the next certificate of the part whose connections `connect` makes. */
export async function askForCertificate(url: URL, connect: buildConnector.connector): Promise<string> {
  const dispatcher = new Agent({ connect })
  try {
    const signal = AbortSignal.timeout(answerMs)
    const answer = await request(url, { dispatcher, method: 'POST', headers: apiHeader, signal })
    if (answer.statusCode === 200) {
      const { certificate } = (await answer.body.json()) as { readonly certificate: string }
      return certificate
    }
    await answer.body.dump()
    throw new Error(`the API answered ${answer.statusCode}`)
  } finally {
    await dispatcher.destroy()
  }
}
