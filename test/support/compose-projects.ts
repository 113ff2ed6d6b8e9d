import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { filledIn } from '../../src/commands/compose/desired.ts'
import { readProject } from '../../src/commands/compose/read-project.ts'
import type { ProjectSource, ReadProject } from '../../src/commands/compose/read-project.ts'
import type { Project } from '../../src/commands/compose/project.ts'
import type { Desired } from '../../src/commands/compose/states.ts'

const fixtures = path.resolve(import.meta.dirname, '../fixtures/compose')

export const noFile = async (): Promise<undefined> => undefined

/** Reads a project from a text. */
export async function projectOf(text: string, source: Partial<ProjectSource> = {}): Promise<ReadProject> {
  const defaults = {
    file: 'compose.yaml',
    variables: {},
    defaultName: 'shop',
    profiles: [],
    readFile: noFile,
  }
  return await readProject({ text, ...defaults, ...source })
}

/** Reads one of the example files, and the files that it names. */
export async function exampleProject(
  name: string,
  source: Partial<ProjectSource> = {},
): Promise<ReadProject> {
  const read = async (file: string) => readFile(path.join(fixtures, file), 'utf8').catch(() => undefined)
  const text = (await read(`${name}.yaml`)) ?? ''
  return await projectOf(text, { file: `${name}.yaml`, defaultName: name, readFile: read, ...source })
}

export const digestOfTests = `sha256:${'ab'.repeat(32)}`

/** What a project asks for if the registry has all of its images. */
export function desiredOfTests(project: Project): Desired {
  const images = new Map(
    project.services.map(({ image: { text } }) => [
      text,
      { digest: `${text.split(':')[0]}@${digestOfTests}` },
    ]),
  )
  return filledIn(project, { images, metroDomain: 'metro.test' })
}

/** The refusals, as a line and a text. */
export function refusalsOf(read: ReadProject): readonly string[] {
  return read.ok ? [] : read.refusals.map(({ line, text }) => `${line}: ${text}`)
}
