import { readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning, signalProcess } from './process-identity.ts'
import type { ProcessIdentity } from './process-identity.ts'

/** How long a part of an earlier supervisor may take to end by itself before it is killed. */
const endLimitMs = 5_000
const pollMs = 50

/**
 * Ends the parts that an earlier supervisor of this directory left running. It finds them by the files that
 * the supervisor wrote. A process that got the id of such a part later is left alone. Returns the names of
 * the parts that were ended here. Only the holder of the directory's lock may call this.
 */
export async function endStaleProcesses(runDirectory: string): Promise<readonly string[]> {
  const left = readRunFiles(runDirectory)
  const ended = left.filter(({ identity }) => isRunning(identity))
  for (const { identity, stopSignal } of ended) signalProcess(identity.pid, stopSignal)
  const deadlineMs = Date.now() + endLimitMs
  while (ended.some(({ identity }) => isRunning(identity)) && Date.now() < deadlineMs) await delay(pollMs)
  for (const { identity } of ended) if (isRunning(identity)) signalProcess(-identity.pid, 'SIGKILL')
  while (ended.some(({ identity }) => isRunning(identity))) await delay(pollMs)
  for (const { file } of left) rmSync(file, { force: true })
  return ended.map(({ name }) => name)
}

/** The parts of a stack that run now. */
export function runningParts(runDirectory: string): readonly string[] {
  return readRunFiles(runDirectory)
    .filter(({ identity }) => isRunning(identity))
    .map(({ name }) => name)
}

/** The identity that is used when no process is known. No process has the id 0. */
const noProcess: ProcessIdentity = { pid: 0, startTicks: 0 }

interface RunFile {
  readonly name: string
  readonly file: string
  readonly identity: ProcessIdentity
  readonly stopSignal: NodeJS.Signals
}

function readRunFiles(runDirectory: string): readonly RunFile[] {
  let names: readonly string[]
  try {
    names = readdirSync(runDirectory).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
  return names.flatMap((name) => readRunFile(path.join(runDirectory, name)))
}

/** Reads a file about a part. A file that a crash has cut off names no process. */
function readRunFile(file: string): readonly RunFile[] {
  try {
    const { pid, startTicks, stopSignal } = JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity & {
      readonly stopSignal: NodeJS.Signals
    }
    return [{ name: path.basename(file, '.json'), file, identity: { pid, startTicks }, stopSignal }]
  } catch {
    return [{ name: path.basename(file, '.json'), file, identity: noProcess, stopSignal: 'SIGTERM' }]
  }
}
