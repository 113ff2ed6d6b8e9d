import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

/** One stack for all test files of a process: a start takes seconds. Instances made in it have names of their own. */
let starting: Promise<Stack> | undefined

export function sharedStack(): Promise<Stack> {
  starting ??= startStack()
  return starting
}

after(async () => {
  const stack = await starting?.catch(() => undefined)
  await stack?.remove()
})
