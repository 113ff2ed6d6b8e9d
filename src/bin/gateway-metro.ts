import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import type { MetroCertificate } from '../gateway/listeners/server-contexts.ts'

const answerMs = 5_000
const retryMs = 5_000

/**
 * Tells the API the certificate of the metro domain, so that gateways on other machines serve the same one.
 * It tries until the API takes it.
 */
export async function publishMetro(options: {
  readonly apiUrl: string
  readonly token: string
  readonly metroDomain: string
  readonly metro: MetroCertificate
  readonly signal: AbortSignal
  readonly onProblem: (message: string, error: unknown) => void
}): Promise<void> {
  const { apiUrl, token, metroDomain, metro, signal, onProblem } = options
  const { chain, key } = metro.current
  // A newer certificate is told by another call.
  for (let told = false; !signal.aborted && metro.current.chain === chain; told = true) {
    try {
      const answer = await request(new URL('/internal/metro-certificate', apiUrl), {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domain: metroDomain, chain, key }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      })
      await answer.body.dump()
      if (answer.statusCode === 204) return
      throw new Error(`the API answered ${answer.statusCode}`)
    } catch (error) {
      if (!told && !signal.aborted)
        onProblem('gateways on other machines do not have the certificate of the metro domain yet', error)
      await delay(retryMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
