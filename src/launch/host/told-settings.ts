import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { sharedSettingsPath } from '../../domain/host/gateway-role.ts'
import type { SharedGatewaySettings } from '../../domain/host/gateway-role.ts'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import { apiHeader } from '../../trust/certificate-request.ts'
import { partConnector } from '../../trust/part-connector.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'

const fileName = 'gateway-settings.json'
const answerMs = 5_000
const retryMs = 2_000

/**
 * What all gateways of the installation have in common, as the API tells it at this start. While the API is
 * away, it is what the last start was told; at the first start it waits for the API.
 */
export async function sharedSettings(options: {
  readonly dataDir: string
  /** Where the control plane is, such as `192.0.2.10:7075`. */
  readonly controlPlane: string
  /** What the gateway shows. */
  readonly identity: PartIdentity
  readonly signal: AbortSignal
  readonly onProblem: (message: string, error: unknown) => void
}): Promise<SharedGatewaySettings> {
  const { dataDir, controlPlane, identity, signal, onProblem } = options
  const file = path.join(dataDir, fileName)
  const dispatcher = new Agent({ connect: partConnector(() => identity) })
  try {
    for (let told = false; ; told = true) {
      try {
        const shared = await ask(`https://${controlPlane}${sharedSettingsPath}`, dispatcher)
        await replaceFile(file, JSON.stringify(shared), { mode: 0o600, durable: true })
        return shared
      } catch (error) {
        const last = readShared(await readFile(file, 'utf8').catch(() => ''))
        if (last !== undefined) return last
        if (!told) onProblem('the gateway waits for the API, which tells what it needs', error)
        await delay(retryMs, undefined, { signal })
      }
    }
  } finally {
    await dispatcher.destroy()
  }
}

async function ask(url: string, dispatcher: Agent): Promise<SharedGatewaySettings> {
  const answer = await request(url, { dispatcher, headers: apiHeader, signal: AbortSignal.timeout(answerMs) })
  const text = await answer.body.text()
  const shared = answer.statusCode === 200 ? readShared(text) : undefined
  if (shared === undefined) throw new Error(`the API answered ${answer.statusCode}`)
  return shared
}

function readShared(text: string): SharedGatewaySettings | undefined {
  const json = parseJson(text)
  if (!isJsonObject(json)) return undefined
  const { metroDomain, portOffset, registryBounded } = json
  const isSound =
    typeof metroDomain === 'string' && typeof portOffset === 'number' && typeof registryBounded === 'boolean'
  return isSound ? { metroDomain, portOffset, registryBounded } : undefined
}
