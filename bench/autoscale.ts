import type { Stack } from '../test/support/stack.ts'
import { benchAtRest } from './autoscale/at-rest.ts'
import { benchReaction } from './autoscale/reaction.ts'
import { printSection } from './report.ts'

/**
 * Measures, with real VMs, how soon a new clone serves. Measures, with fake VMs, what it costs to run a
 * thousand services that need no clone.
 */
export async function benchAutoscale(options: {
  readonly accelerator: string
  readonly withStack: (
    env: Readonly<Record<string, string>>,
    work: (stack: Stack) => Promise<void>,
  ) => Promise<void>
  readonly digestOf: (stack: Stack, app: string) => Promise<string>
}): Promise<void> {
  const { accelerator, withStack, digestOf } = options
  await withStack({ ROOST_ACCEL: accelerator }, async (stack) => {
    printSection(await benchReaction(stack))
  })
  await withStack({ ROOST_VMM: 'fake' }, async (stack) => {
    printSection(await benchAtRest(stack, await digestOf(stack, 'hello')))
  })
}
