import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { keyFileNames } from '../../domain/host/control-role.ts'
import type { ControlSettings } from '../../domain/host/control-role.ts'
import type { SharedGatewaySettings } from '../../domain/host/gateway-role.ts'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import { apiHeader } from '../../trust/certificate-request.ts'
import { partConnector } from '../../trust/part-connector.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'

const answerMs = 5_000
const retryMs = 2_000

export interface ToldSource<Told> {
  /** Where the API tells it. */
  readonly url: string
  /** What is shown to the API. */
  readonly identity: PartIdentity
  /** Where the last answer is kept. */
  readonly file: string
  /** Undefined if the answer is not sound. */
  readonly read: (json: unknown) => Told | undefined
  readonly signal: AbortSignal
  readonly onProblem: (message: string, error: unknown) => void
}

/**
 * What the API tells a machine at this start. While the API is away, it is what the last start was told; at
 * the first start it waits for the API.
 */
export async function toldOrKept<Told>(source: ToldSource<Told>): Promise<Told> {
  const { file, identity, signal, onProblem, read } = source
  const dispatcher = new Agent({ connect: partConnector(() => identity) })
  try {
    for (let told = false; ; told = true) {
      try {
        const answer = await askTold(source, dispatcher, AbortSignal.timeout(answerMs))
        await replaceFile(file, JSON.stringify(answer), { mode: 0o600, durable: true }).catch(
          (error: unknown) => onProblem(`${file} can not be written`, error),
        )
        return answer
      } catch (error) {
        const last = read(parseJson(await readFile(file, 'utf8').catch(() => '')))
        if (last !== undefined) {
          onProblem(
            'the API does not tell what the parts of this machine need; what it told last counts',
            error,
          )
          return last
        }
        if (!told) onProblem('this machine waits for the API, which tells what its parts need', error)
        await delay(retryMs, undefined, { signal })
      }
    }
  } finally {
    await dispatcher.destroy()
  }
}

/** Asks the API once. Throws if it does not answer soundly. */
export async function askTold<Told>(
  { url, read }: Pick<ToldSource<Told>, 'url' | 'read'>,
  dispatcher: Agent,
  signal: AbortSignal,
): Promise<Told> {
  const answer = await request(url, { dispatcher, headers: apiHeader, signal })
  const text = await answer.body.text()
  const told = answer.statusCode === 200 ? read(parseJson(text)) : undefined
  if (told === undefined) throw new Error(`the API answered ${answer.statusCode}`)
  return told
}

export function readSharedSettings(json: unknown): SharedGatewaySettings | undefined {
  if (!isJsonObject(json)) return undefined
  const { metroDomain, portOffset, registryBounded } = json
  const isSound =
    typeof metroDomain === 'string' && typeof portOffset === 'number' && typeof registryBounded === 'boolean'
  return isSound ? { metroDomain, portOffset, registryBounded } : undefined
}

/** Keys of a later version are left out. Their names become names of files, so only known ones count. */
export function readControlSettings(json: unknown): ControlSettings | undefined {
  if (!isJsonObject(json) || !isJsonObject(json['settings']) || !isJsonObject(json['keys'])) return undefined
  const { settings, keys } = json
  const known = Object.fromEntries(
    keyFileNames.flatMap((name) => (Object.hasOwn(keys, name) ? [[name, keys[name]]] : [])),
  )
  const texts = [...Object.values(settings), ...Object.values(known)]
  const isSound = texts.every((text) => typeof text === 'string')
  return isSound ? { settings: settings as ControlSettings['settings'], keys: known } : undefined
}

export function readApiAddresses(json: unknown): readonly string[] | undefined {
  const addresses = isJsonObject(json) ? json['addresses'] : undefined
  const isSound =
    Array.isArray(addresses) &&
    addresses.length > 0 &&
    addresses.every((address) => typeof address === 'string')
  return isSound ? addresses : undefined
}
