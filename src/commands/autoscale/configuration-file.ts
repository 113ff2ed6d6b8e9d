import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import type { CommandDeps } from '../command-deps.ts'
import { usage } from '../session.ts'

const maxBytes = 100_000

/** Reads sizes, times and policies in the API's JSON; nothing if there is no file. */
export async function readConfiguration(
  deps: Pick<CommandDeps, 'readFile'>,
  file: string | undefined,
): Promise<object> {
  const given = file === undefined ? {} : parseJson(await deps.readFile(file, maxBytes))
  if (!isJsonObject(given)) throw usage(`${file} is no JSON object with sizes, times and policies`)
  return given
}
