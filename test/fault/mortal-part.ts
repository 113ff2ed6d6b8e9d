import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import process from 'node:process'

/** A process that ends itself with -9 where its options say so. */
export interface MortalPart {
  readonly died: Promise<void>
  end(): Promise<void>
}

/** Starts `<program>.ts` of this folder with its options as JSON. */
export function startMortalPart(program: string, options: object): MortalPart {
  const file = path.resolve(import.meta.dirname, `${program}.ts`)
  const child = spawn(process.execPath, [file, JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>
  return {
    died: exited.then(([, signal]) => assert.equal(signal, 'SIGKILL')),
    async end() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
