import type { Command } from 'commander'
import { failureOfEntry, isFailed } from '../client/answers.ts'
import type { FailedEntry } from '../client/answers.ts'
import { createApiClient, isAborted } from '../client/client.ts'
import type { ApiClient } from '../client/client.ts'
import { isUuid } from '../domain/object-name.ts'
import type { Access } from './access.ts'
import { findAccess } from './access.ts'
import type { CommandDeps } from './command-deps.ts'
import { CommandFailure, ExitCode } from './command-failure.ts'
import { fittedTable } from './output.ts'
import type { Column } from './output.ts'

/** The options that every command takes. */
export interface GlobalOptions {
  readonly output?: 'table' | 'json'
  readonly profile?: string
}

/** What the commands of a room are added to. */
export interface CommandLine {
  readonly program: Command
  readonly deps: CommandDeps
  /** Opens what a command needs to speak to the API. Throws `CommandFailure` if no installation is known. */
  readonly session: () => Promise<Session>
  readonly options: () => GlobalOptions
}

/** One command's access to the API, and its output. */
export interface Session {
  readonly client: ApiClient
  readonly access: Access
  readonly deps: CommandDeps
  readonly wantsJson: boolean
  /** Writes what the command found, as JSON if that is asked for, else as text. */
  answer(found: { readonly json: unknown; readonly text: string }): void
  list<Row>(rows: readonly Row[], shape: readonly Column<Row>[]): void
  /** Says what happens, to people only. */
  tell(text: string): void
}

const maxAuthorityBytes = 1_000_000

export async function openSession(deps: CommandDeps, options: GlobalOptions): Promise<Session> {
  const access = await findAccess(deps, options.profile)
  if (access.ca !== undefined) deps.trust(await deps.readFile(access.ca, maxAuthorityBytes))
  const wantsJson = options.output === 'json'
  const answer: Session['answer'] = ({ json, text }) => {
    if (wantsJson) deps.write(`${JSON.stringify(json, undefined, 2)}\n`)
    else if (text !== '') deps.write(text.endsWith('\n') ? text : `${text}\n`)
  }
  return {
    client: createApiClient(access),
    access,
    deps,
    wantsJson,
    answer,
    list: (rows, shape) => answer({ json: rows, text: fittedTable(rows, shape, deps.columns) }),
    tell: (text) => {
      if (!wantsJson) deps.note(`${text}\n`)
    },
  }
}

/** Does work that goes on until Ctrl-C, which is then its regular end. */
export async function untilInterrupted({ signal }: CommandDeps, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!signal.aborted || !isAborted(error)) throw error
  })
}

/** How a request names an object that a person has named. */
export function identified(text: string): { readonly uuid: string } | { readonly name: string } {
  return isUuid(text) ? { uuid: text } : { name: text }
}

/** How a query names objects. */
export function queryOf(texts: readonly string[]): { uuid?: string[]; name?: string[] } {
  const uuids = texts.filter((text) => isUuid(text))
  const names = texts.filter((text) => !isUuid(text))
  return { ...(uuids.length > 0 && { uuid: uuids }), ...(names.length > 0 && { name: names }) }
}

/** Tells of each object of a command. Throws the first failure after all were told. */
export function tellEach<E extends { readonly name?: string; readonly uuid?: string }>(
  session: Session,
  entries: readonly (E | FailedEntry)[],
  sentence: (entry: E) => string,
): void {
  const done = entries.filter((entry): entry is E => !isFailed(entry))
  const failed = entries.filter((entry): entry is FailedEntry => isFailed(entry))
  session.answer({ json: entries, text: done.map(sentence).join('\n') })
  for (const entry of failed.slice(1)) session.deps.note(`roost: ${entry.message}\n`)
  if (failed[0] !== undefined) throw failureOfEntry(failed[0])
}

/** Reads an option that is a whole number. */
export function numberOption(name: string, { min, max }: { readonly min: number; readonly max: number }) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw usage(`'${text}' is no value for ${name}: expected a whole number from ${min} to ${max}`)
  }
}

export function usage(message: string): CommandFailure {
  return new CommandFailure(message, { exitCode: ExitCode.Usage })
}

/** Reads an option that may be given several times. */
export function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
