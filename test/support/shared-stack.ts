import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

/** One stack for all test files of a process: a start takes seconds. Instances made in it have names of their own. */
const maxShown = 6_000
let starting: Promise<Stack> | undefined

export function sharedStack(): Promise<Stack> {
  starting ??= startStack()
  return starting
}

after(async () => {
  const stack = await starting?.catch(() => undefined)
  await stack?.remove()
})

/** What the stack said since the test before, for the reader of a failure. */
let saidBefore = 0
afterEach(async function () {
  const output = (await starting?.catch(() => undefined))?.output() ?? ''
  if (this.currentTest?.state === 'failed') {
    process.stdout.write(`--- the stack said meanwhile:\n${output.slice(saidBefore).slice(-maxShown)}\n---\n`)
  }
  saidBefore = output.length
})
