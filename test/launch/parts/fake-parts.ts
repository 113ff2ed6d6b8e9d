import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pino } from 'pino'
import type { Part } from '../../../src/launch/parts/part.ts'
import { agentSignals } from '../../../src/launch/parts/roost-parts.ts'
import { untilSucceeds } from '../../../src/launch/readiness.ts'
import type { SupervisorOptions } from '../../support/supervised-parts.ts'

/** Parts that are small shell programs. They write their starts and stops, in order, to one journal file. */
export interface FakeParts {
  readonly journal: () => readonly string[]
  part(name: string, faults?: PartFaults): Part
  options(parts: readonly Part[]): SupervisorOptions
  /** The lines that the parts printed, each with the name of its part. */
  readonly lines: string[]
}

export interface PartFaults {
  /** The part ends with this code before it is ready: at every start, or at every start except the first. */
  readonly crash?: { readonly code: number; readonly times: 'always' | 'after-first' }
  readonly ignoresSignals?: boolean
  /** Like an agent, the part ends with SIGINT, and with SIGTERM it writes that it leaves virtual machines. */
  readonly leavesVms?: boolean
  /** The part starts another process that would outlive it, and writes that process's id to this file. */
  readonly childFile?: string
}

const silent = pino({ level: 'silent' })

export function createFakeParts(directory: string): FakeParts {
  const journalFile = path.join(directory, 'journal')
  writeFileSync(journalFile, '')
  const journal = () => readFileSync(journalFile, 'utf8').split('\n').filter(Boolean)
  const lines: string[] = []
  return {
    journal,
    lines,
    part: (name, faults = {}) => fakePart({ name, faults, journalFile, directory }),
    options: (parts) => ({
      parts,
      runDirectory: path.join(directory, 'run'),
      environment: process.env,
      log: silent,
      onLine: (part, line) => lines.push(`${part}: ${line}`),
    }),
  }
}

interface FakePartInput {
  readonly name: string
  readonly faults: PartFaults
  readonly journalFile: string
  readonly directory: string
}

function fakePart({ name, faults, journalFile, directory }: FakePartInput): Part {
  const write = (what: string) => `echo ${what} ${name} >> ${journalFile}`
  const crashedFile = path.join(directory, `${name}.crashed`)
  const script = [
    write('start'),
    `echo hello from ${name}`,
    ...crash(faults, crashedFile),
    faults.ignoresSignals
      ? "trap '' TERM"
      : `trap '${write(faults.leavesVms === true ? 'leave' : 'stop')}; exit 0' TERM`,
    `trap '${write('stop')}; exit 0' INT`,
    ...(faults.childFile === undefined ? [] : [`sleep 1000 & echo $! > ${faults.childFile}`]),
    write('ready'),
    'while :; do sleep 0.02; done',
  ]
  let readyBefore = 0
  const readyCount = () => {
    const all = readFileSync(journalFile, 'utf8').split('\n')
    return all.filter((line) => line === `ready ${name}`).length
  }
  return {
    name,
    program: '/bin/sh',
    args: ['-c', script.join('\n')],
    ...(faults.leavesVms === true ? agentSignals : { stopSignal: 'SIGTERM' }),
    stopLimitMs: 2_000,
    ready: (signal) =>
      untilSucceeds(async () => {
        if (readyCount() <= readyBefore) throw new Error('not ready')
        readyBefore = readyCount()
      }, signal),
  }
}

function crash(faults: PartFaults, crashedFile: string): readonly string[] {
  if (faults.crash === undefined) return []
  const { code, times } = faults.crash
  return times === 'always'
    ? [`echo it hurts >&2`, `exit ${code}`]
    : [`if [ -e ${crashedFile} ]; then sleep 0.1; exit ${code}; fi`, `touch ${crashedFile}`]
}
