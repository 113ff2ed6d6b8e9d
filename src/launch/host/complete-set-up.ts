import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { ownNode } from '../own-checkout.ts'
import { JoinFailure } from '../../trust/join-client.ts'

const setUp = path.resolve(import.meta.dirname, '../../../setup/setup.mjs')

/**
 * Gets what an API and a worker need besides what a host needs. It is known after the join alone that this
 * machine runs them. Where it is there already, this takes no time.
 */
export async function completeSetUp(): Promise<void> {
  const child = spawn(ownNode, [setUp, '--control'], { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code === 0) return
  throw new JoinFailure(
    'set-up could not get what the API and the worker of this machine need; see above, then run `npx roost join` again',
  )
}
