import { setTimeout as delay } from 'node:timers/promises'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { prepareTrial } from './trial.ts'

/**
 * The first moment is early in the handling of the requests. At the second one, hosts are at work on them.
 */
const momentsMs = [15, 150]
const parts = ['api', 'worker', 'agent', 'temporal', 'postgres'] as const

describe('a part that is killed with -9 during create, start, stop and delete', () => {
  let stack: Stack
  before(async () => {
    stack = await sharedStack()
  })

  for (const part of parts) {
    for (const momentMs of momentsMs) {
      it(`loses and repeats nothing: ${part}, ${momentMs} ms after the requests`, async () => {
        const trial = await prepareTrial(stack, `${part}-${momentMs}`)
        const asked = trial.ask()
        await delay(momentMs)
        await stack.killPart(part)
        await asked
        await trial.verify()
      })
    }
  }
})
