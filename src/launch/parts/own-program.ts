import path from 'node:path'
import { ownCheckout, ownNode } from '../own-checkout.ts'
import type { Part } from './part.ts'

/** How one of Roost's own parts is run. */
export function ownProgram(name: string): Pick<Part, 'name' | 'program' | 'args' | 'readsSettings'> {
  const args = ['--disable-warning=ExperimentalWarning', path.join(ownCheckout, 'src', 'bin', `${name}.ts`)]
  return { name, program: ownNode, args, readsSettings: true }
}
