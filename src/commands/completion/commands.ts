import type { Command } from 'commander'
import { succeeded } from '../../client/answers.ts'
import { usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { completionScripts } from './scripts.ts'

/** How long a completion waits for the API. Somebody is typing. */
const answerLimitMs = 1_500
const mostNames = 1_000

export function addCompletionCommands({ program, deps, session }: CommandLine): void {
  const shells = Object.keys(completionScripts)
  program
    .command('completion <shell>')
    .description(`write the completions for a shell: ${shells.join(', ')}`)
    .addHelpText('after', '\nFor bash: source <(roost completion bash)')
    .action((shell: string) => {
      const script = Object.hasOwn(completionScripts, shell) ? completionScripts[shell] : undefined
      if (script === undefined)
        throw usage(`there are no completions for '${shell}', only for ${shells.join(', ')}`)
      deps.write(script)
    })
  program
    .command('complete-words [words...]', { hidden: true })
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const found = wordsAfter(program, words)
      const names = found.kind === undefined ? [] : await namesOf(found.kind, session).catch(() => [])
      const last = words.at(-1) ?? ''
      const fitting = [...found.words, ...names].filter((word) => word.startsWith(last))
      deps.write(fitting.map((word) => `${word}\n`).join(''))
    })
}

/** What an argument names, by its name in the help. */
type Kind = 'instance' | 'service' | 'volume' | 'certificate' | 'schedule' | 'object'
const kinds: readonly Kind[] = ['instance', 'service', 'volume', 'certificate', 'schedule', 'object']

/** What may stand where the last word is: words, and the objects of a kind. */
function wordsAfter(
  program: Command,
  words: readonly string[],
): { readonly words: readonly string[]; readonly kind?: Kind } {
  let command = program
  let given = 0
  for (const word of words.slice(0, -1)) {
    const next = command.commands.find((one) => one.name() === word)
    if (next !== undefined) command = next
    else if (!word.startsWith('-')) given += 1
  }
  const last = words.at(-1) ?? ''
  if (last.startsWith('-')) {
    const options = [...command.options, ...program.options]
    return { words: options.flatMap(({ long }) => (long === undefined ? [] : [long])) }
  }
  if (command.commands.length > 0) {
    const visible = command.createHelp().visibleCommands(command)
    return { words: visible.map((one) => one.name()) }
  }
  const shape = command.registeredArguments
  const argument = shape[Math.min(given, shape.length - 1)]
  if (argument?.name() === 'shell') return { words: Object.keys(completionScripts) }
  const kind = kinds.find((one) => argument?.name().startsWith(one))
  return { words: [], ...(kind !== undefined && { kind }) }
}

async function namesOf(kind: Kind, session: () => Promise<Session>): Promise<readonly string[]> {
  const { client } = await session()
  const options = {
    params: { query: { count: mostNames, details: false } },
    signal: AbortSignal.timeout(answerLimitMs),
  }
  const lists = {
    instance: async () => succeeded(await client.GET('/v1/instances', options)),
    service: async () => succeeded(await client.GET('/v1/services', options)),
    volume: async () => succeeded(await client.GET('/v1/volumes', options)),
    certificate: async () => succeeded(await client.GET('/v1/certificates', options)),
    schedule: async () => succeeded(await client.GET('/v1/schedules', options)),
  }
  const wanted = kind === 'object' ? (['instance', 'service'] as const) : [kind]
  const found = await Promise.all(wanted.map((one) => lists[one]()))
  return found.flat().map(({ name }) => name)
}
