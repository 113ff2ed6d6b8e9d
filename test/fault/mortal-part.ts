import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import process from 'node:process'

/** A process that ends itself with -9 where its options say so. */
export interface MortalPart {
  /** Resolves when the process takes work. Rejects if the process ended before. */
  readonly ready: Promise<void>
  /** Resolves when the process has died at its point. */
  readonly died: Promise<void>
  /** Ends the process at once. */
  end(): Promise<void>
}

/** Starts `<program>.ts`, a path below this folder, with its options as JSON. */
export function startMortalPart(program: string, options: object): MortalPart {
  const file = path.resolve(import.meta.dirname, `${program}.ts`)
  const child = spawn(process.execPath, [file, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>
  const said = Promise.race([once(child.stdout, 'data'), exited]) as Promise<[unknown]>
  const ready = said.then(([word]) => assert.equal(String(word), 'ready\n'))
  // A caller that only waits for the death does not look at `ready`.
  ready.catch(() => undefined)
  return {
    ready,
    died: exited.then(([, signal]) => assert.equal(signal, 'SIGKILL')),
    async end() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
