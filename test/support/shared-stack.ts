import { onFailure } from './failure-notes.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

/** How many characters of the stack's output are shown with a failure, at most. */
const maxShown = 6_000
/**
 * One stack for all test files of a process, because a start takes seconds. Tests give their instances names
 * of their own.
 */
let starting: Promise<Stack> | undefined
let started: Stack | undefined

export async function sharedStack(): Promise<Stack> {
  starting ??= startStack()
  started = await starting
  return started
}

after(async () => {
  const stack = await starting?.catch(() => undefined)
  await stack?.remove()
})

/** The length of the stack's output at the end of the previous test. */
let saidBefore = 0
afterEach(() => {
  saidBefore = started?.output().length ?? 0
})
onFailure(() => {
  const said = started?.output().slice(saidBefore).slice(-maxShown) ?? ''
  return said === '' ? '' : `--- the stack said meanwhile:\n${said}\n---\n`
})
