import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { isMissing } from '../vmm/vm-record.ts'
import { replaceText } from './record-file.ts'

/** The longest term that an API can ask for: a day. A longer one would hardly ever end. */
const maxTermMs = 86_400_000

/** What an agent has to know of the host's term when it starts again. */
export interface TermState {
  /** The term that the API's last answer asked for. Absent: none. */
  readonly wantedMs?: number
  /** Whether the API may believe that this host has a term. It does from the first request that told one. */
  readonly isClaimed: boolean
  /** After which loss this host has cleared up last; 0 if it was never lost. */
  readonly loss: number
  /** Present until the API was told so, and what it placed elsewhere until then is removed. */
  readonly isReturning?: true
}

/** The file with that in the agent's directory. It survives a crash of the machine. */
export class TermStateFile {
  readonly #path: string

  constructor(agentDirectory: string) {
    this.#path = join(agentDirectory, 'term.json')
  }

  /** A damaged file counts as one of a host with a term, because that is the safe side. */
  async load(): Promise<TermState> {
    let text: string
    try {
      text = await readFile(this.#path, 'utf8')
    } catch (error) {
      if (!isMissing(error)) throw error
      return { isClaimed: false, loss: 0 }
    }
    const json = parseJson(text)
    if (!isJsonObject(json)) return { isClaimed: true, loss: 0 }
    const wantedMs = termIn(json['wantedMs'])
    return {
      ...(wantedMs !== undefined && { wantedMs }),
      isClaimed: json['isClaimed'] !== false,
      loss: lossIn(json['loss']) ?? 0,
      ...(json['isReturning'] === true && { isReturning: true }),
    }
  }

  async save(state: TermState): Promise<void> {
    await replaceText(this.#path, JSON.stringify(state), { durable: true })
  }
}

/** A term of the API, if it is one that this host can keep. */
export function termIn(value: unknown): number | undefined {
  const fits = Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= maxTermMs
  return fits ? Number(value) : undefined
}

export function lossIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
}
