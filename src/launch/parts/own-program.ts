import path from 'node:path'
import type { Part } from './part.ts'

const sources = path.resolve(import.meta.dirname, '../../bin')

/** How one of Roost's own parts is run. */
export function ownProgram(name: string): Pick<Part, 'name' | 'program' | 'args' | 'readsSettings'> {
  const args = ['--disable-warning=ExperimentalWarning', path.join(sources, `${name}.ts`)]
  return { name, program: process.execPath, args, readsSettings: true }
}
