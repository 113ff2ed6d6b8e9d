import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { BootRecord } from './boot-record.ts'
import type { DirectAnswer } from './direct-prober.ts'
import type { LaneNames } from './lane-traffic.ts'
import { monotonicMs } from './monotonic-clock.ts'
import { readTold } from './telling-guest.ts'
import { until } from './until.ts'

/**
 * A witness outside all hosts. It asks instances of `telling-guest.ts` all the time, by the gateway and
 * directly from within each host's namespace, and records which boot answered when.
 */
export interface Witness {
  readonly record: BootRecord
  /** The processes of the witness in the hosts' namespaces. Whoever ends a host's processes spares these. */
  readonly pids: ReadonlySet<number>
  /** Asks the VM at this address from now on, from within its host's namespace. */
  askDirectly(host: string, address: string): void
  /** Asks the public name until it is told to stop. No answer is no failure: its host may be lost. */
  askPublicly(publicName: string): PublicQuestions
  /** What the volume of an instance held, as its last answer told. */
  keptBy(instance: string): string | undefined
  close(): Promise<void>
}

export interface PublicQuestions {
  /** Asks no more. Questions that are under way go on. */
  stop(): void
  /** Asks no more, and waits for the answers that are due. */
  end(): Promise<void>
}

const program = path.resolve(import.meta.dirname, 'direct-prober.ts')
const publicPauseMs = 250
/** The gateway may hold a request for as long as a start takes. */
const publicLimitMs = 30_000
/** How many public requests of one name may be under way. */
const maxUnderWay = 40
const closeLimitMs = 10_000

/** `namespaces` has the network namespace of each host by its name; undefined is that of this process. */
export function openWitness(
  names: LaneNames,
  namespaces: Readonly<Record<string, string | undefined>>,
): Witness {
  const record = new BootRecord()
  const kept = new Map<string, string>()
  const note = (text: string, times: { sentMs: number; receivedMs: number; host?: string }): void => {
    const told = readTold(text)
    if (told === undefined) return
    if (told.kept !== undefined) kept.set(told.instance, told.kept)
    record.note({ ...told, ...times })
  }
  const probers = new Map(
    Object.entries(namespaces).map(([host, namespace]) => {
      const onAnswer = ({ text, sentMs, receivedMs }: DirectAnswer) =>
        note(text, { host, sentMs, receivedMs })
      return [host, startProber(namespace, onAnswer)] as const
    }),
  )
  const publics = new Set<NameQuestions>()
  return {
    record,
    pids: new Set([...probers.values()].flatMap(({ pid }) => pid ?? [])),
    askDirectly(host, address) {
      const prober = probers.get(host)
      if (prober === undefined) throw new Error(`the witness has nobody on ${host}`)
      prober.stdin?.write(`${address}\n`)
    },
    askPublicly(publicName) {
      const questions = new NameQuestions(names, publicName, note)
      publics.add(questions)
      return questions
    },
    keptBy: (instance) => kept.get(instance),
    async close() {
      await Promise.all([...publics].map(async (one) => await one.end()))
      await Promise.all([...probers.values()].map(endProber))
    },
  }
}

type Note = (text: string, times: { sentMs: number; receivedMs: number }) => void

class NameQuestions implements PublicQuestions {
  readonly #names: LaneNames
  readonly #url: string
  readonly #note: Note
  readonly #underWay = new Set<Promise<void>>()
  readonly #going: Promise<void>
  #isOver = false

  constructor(names: LaneNames, publicName: string, note: Note) {
    this.#names = names
    this.#url = `https://${publicName}/`
    this.#note = note
    this.#going = this.#go()
  }

  stop(): void {
    this.#isOver = true
  }

  async end(): Promise<void> {
    this.stop()
    await this.#going
    await Promise.all(this.#underWay)
  }

  async #go(): Promise<void> {
    while (!this.#isOver && !this.#names.isClosed) {
      if (this.#underWay.size < maxUnderWay) {
        const one = this.#ask().finally(() => this.#underWay.delete(one))
        this.#underWay.add(one)
      }
      await delay(publicPauseMs)
    }
  }

  async #ask(): Promise<void> {
    const sentMs = monotonicMs()
    try {
      const { text } = await this.#names.get(this.#url, { limitMs: publicLimitMs })
      this.#note(text, { sentMs, receivedMs: monotonicMs() })
    } catch {
      // A lost host does not answer. The next question comes soon.
    }
  }
}

function startProber(namespace: string | undefined, onAnswer: (answer: DirectAnswer) => void): ChildProcess {
  const inside = namespace === undefined ? [] : ['nsenter', `--net=/run/netns/${namespace}`, '--']
  const [command, ...args] = [...inside, process.execPath, program]
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  // A prober that has ended gets no more addresses.
  child.stdin.on('error', () => undefined)
  createInterface({ input: child.stdout }).on('line', (line) => onAnswer(JSON.parse(line) as DirectAnswer))
  return child
}

async function endProber(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const late = setTimeout(() => child.kill('SIGKILL'), closeLimitMs)
  child.stdin?.end()
  await once(child, 'exit')
  clearTimeout(late)
}

/** Waits for an answer of a boot of the instance that is none of `known`, and returns it. */
export async function untilAnotherBoot(
  { record }: Witness,
  wanted: { readonly instance: string; readonly known: ReadonlySet<string>; readonly limitMs: number },
) {
  const { instance, known, limitMs } = wanted
  return await until(
    `another boot of ${instance} answers`,
    () => record.boots(instance).find(({ boot }) => !known.has(boot)),
    { limitMs },
  )
}
