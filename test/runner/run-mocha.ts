import fc from 'fast-check'
import Mocha from 'mocha'
import process from 'node:process'
import { inspect } from 'node:util'
import { ciSeed } from '../support/ci-seed.ts'
import { failureNotes } from '../support/failure-notes.ts'
import { FileRecord } from './file-record.ts'
import { fileMark, markVariable } from './leftovers.ts'

/**
 * The process of one group: `run-mocha.ts <timeout ms> <file>...`. The results go to the parent over IPC. No
 * code here ends the process. So a group that leaves a socket or a timer open does not end by itself, and
 * the parent notices it.
 */
if (ciSeed !== undefined) fc.configureGlobal({ seed: ciSeed })

/** How long after its last test the process tells what is open. The parent waits for longer. */
const tellOpenMs = 10_000

/** What keeps this process from its end. Only Node's own, undocumented list knows more than kinds. */
function stillOpen(): string {
  const list = Reflect.get(process, '_getActiveHandles') as (() => readonly object[]) | undefined
  const handles = (list?.() ?? []).map((one) => inspect(one, { depth: 1 }).slice(0, 2_000))
  return [process.getActiveResourcesInfo().join(', '), ...handles].join('\n')
}

const [timeoutMs, ...files] = process.argv.slice(2)
const mocha = new Mocha({ timeout: Number(timeoutMs), forbidOnly: true })
for (const file of files) mocha.addFile(file)
await mocha.loadFilesAsync()

// A rejection that nobody handles fails the run, as with mocha's own command. Without this it would be lost.
process.on('unhandledRejection', (reason) => {
  throw reason
})
const mark = process.env[markVariable]
const record = new FileRecord((progress) => {
  if (mark !== undefined) process.env[markVariable] = fileMark(mark, progress.running)
  process.send?.(progress)
})
const runner = mocha.run((failed) => {
  process.exitCode = failed > 0 ? 1 : 0
  process.send?.(record.end(), () => process.disconnect())
  // Nothing is left to do, so this process is still here only if something is open. The parent kills it soon.
  setTimeout(() => process.stdout.write(`still open: ${stillOpen()}\n`), tellOpenMs).unref()
})
record.follow(runner)
// A failure is printed at once, with its causes. Mocha prints failures only at the end, which a process that
// crashes or is ended does not reach.
runner.on('fail', (_, error) => process.stdout.write(`${inspect(error)}\n${failureNotes()}`))
