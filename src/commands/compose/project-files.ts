import { existsSync } from 'node:fs'
import path from 'node:path'
import type { CommandDeps } from '../command-deps.ts'
import { CommandFailure, ExitCode } from '../command-failure.ts'
import { usage } from '../session.ts'
import { readEnvFile } from './env-file.ts'
import { Findings, findingText } from './findings.ts'
import type { Variables } from './interpolation.ts'
import { readProject } from './read-project.ts'
import type { ReadProject } from './read-project.ts'

export interface ProjectOptions {
  readonly file?: readonly string[]
  readonly projectName?: string
  readonly envFile?: string
  readonly withProfile?: readonly string[]
}

type FileDeps = Pick<CommandDeps, 'readFile' | 'environment'>

/** The names under which a file is looked for, in this order. */
export const fileNames = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'] as const
/** Compose merges such a file into the one beside it. */
const overrideNames = fileNames.map((name) => name.replace(/\.(ya?ml)$/, '.override.$1'))
const maxFileBytes = 1_000_000

/** Reads the project of the present directory, or of the file that is named. */
export async function openProject(deps: FileDeps, options: ProjectOptions): Promise<ReadProject> {
  const file = projectFile(options)
  const directory = path.dirname(path.resolve(file))
  const findings = new Findings()
  const variables = await readVariables(deps, { directory, envFile: options.envFile, findings })
  const text = await deps.readFile(file, maxFileBytes)
  const read = await readProject({
    text,
    file,
    variables,
    ...(options.projectName !== undefined && { name: options.projectName }),
    defaultName: variables['COMPOSE_PROJECT_NAME'] || nameOfDirectory(directory),
    profiles: options.withProfile ?? listOf(variables['COMPOSE_PROFILES']),
    readFile: async (name) => readIfThere(deps, path.resolve(directory, name)),
  })
  if (findings.refusals.length === 0) return read
  const refusals = [...findings.refusals, ...(read.ok ? [] : read.refusals)]
  return { ok: false, refusals, notes: read.ok ? read.project.notes : read.notes }
}

/** Whether a file is named, or there is one of the usual ones. */
export function hasFile({ file }: ProjectOptions): boolean {
  return file !== undefined || fileNames.some((name) => existsSync(name))
}

function projectFile({ file: files = [] }: ProjectOptions): string {
  const [file, second] = files
  if (second !== undefined) {
    throw usage(`-f ${second}: several files can not be merged; write them into one`)
  }
  if (file !== undefined) return file
  const found = fileNames.find((name) => existsSync(name))
  if (found === undefined) {
    throw new CommandFailure(`there is no ${fileNames.join(', ')} here; -f names another file`, {
      exitCode: ExitCode.NotFound,
    })
  }
  const override = overrideNames.find((name) => existsSync(name))
  if (override !== undefined) {
    throw usage(`${override} is not merged: write its lines into ${found}, or name one file by -f`)
  }
  return found
}

/** The variables of the environment, which count first, and those of `.env` beside the file. */
async function readVariables(
  deps: FileDeps,
  {
    directory,
    envFile,
    findings,
  }: { readonly directory: string; readonly envFile: string | undefined; readonly findings: Findings },
): Promise<Variables> {
  const file = envFile ?? path.join(directory, '.env')
  const text = envFile === undefined ? await readIfThere(deps, file) : await deps.readFile(file, maxFileBytes)
  if (text === undefined) return deps.environment
  const name = envFile ?? '.env'
  return { ...readEnvFile(text, { file: name, variables: deps.environment, findings }), ...deps.environment }
}

async function readIfThere(deps: FileDeps, file: string): Promise<string | undefined> {
  return existsSync(file) ? await deps.readFile(file, maxFileBytes) : undefined
}

/** A name of a project from that of its directory, as Compose makes one, but with hyphens alone. */
export function nameOfDirectory(directory: string): string {
  const name = path.basename(directory).toLowerCase()
  const cleaned = name
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .replace(/-+$/, '')
  return cleaned.slice(0, 40).replace(/-+$/, '') || 'project'
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').filter((word) => word !== '')
}

/** The failure that tells of everything that can not be done. */
export function refusal(read: Pick<Extract<ReadProject, { ok: false }>, 'refusals'>): CommandFailure {
  const lines = read.refusals.map(findingText)
  const count = lines.length === 1 ? 'one thing' : `${lines.length} things`
  return new CommandFailure(
    `nothing is changed, because ${count} of the project can not be done:\n${lines.join('\n')}`,
  )
}
