import { readAutoscale } from '../../api/autoscale/new-autoscale.ts'
import { createAutoscale } from '../../contract/autoscale/operations.ts'
import { RequestError } from '../../contract/errors.ts'
import { maxBodyBytes } from '../../contract/limits.ts'
import { requestParser } from '../../contract/request/parser.ts'
import { defaultAutoscale } from '../../domain/autoscale/policy.ts'
import type { AutoscaleConfiguration } from '../../domain/autoscale/policy.ts'
import { inputName, readBounded } from '../bounded-input.ts'
import { CliFailure } from '../cli-failure.ts'

/** The most instances that can be simulated. */
export const maxSimulatedSize = 1_000

const parse = requestParser(createAutoscale)

/**
 * Reads a configuration from a file or standard input. It is in the form in which it is sent to the API to
 * create it. The service that it names does not matter, and its master may be left out. Throws `CliFailure`
 * with everything that is wrong, in the API's words.
 */
export async function readWrittenAutoscale(file: string): Promise<AutoscaleConfiguration> {
  const name = inputName(file)
  const body = bodyOf(await readBounded(file, maxBodyBytes), name)
  try {
    return configurationOf(body)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const messages = error.problems.map(({ message }) => message)
    throw new CliFailure(`${name} is no configuration:\n  ${messages.join('\n  ')}`, { cause: error })
  }
}

function bodyOf(text: string, name: string): object {
  let written: unknown
  try {
    written = JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliFailure(`${name} is no JSON: ${why}`, { cause: error })
  }
  const [body, ...others] = Array.isArray(written) ? (written as readonly unknown[]) : [written]
  if (others.length > 0) throw new CliFailure(`${name} holds ${others.length + 1} configurations: give one`)
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new CliFailure(`${name} must be one JSON object: a configuration as the API takes it`)
}

/** Reads the configuration in the form of local scope, in which the path names the service. */
function configurationOf(written: object): AutoscaleConfiguration {
  const { uuid: _uuid, name: _name, ...given } = written as Readonly<Record<string, unknown>>
  const body = { master: { name: 'master' }, ...given }
  const [request] = parse({ object: 'service', query: '', body }).objects
  if (request === undefined) throw new CliFailure('the configuration is empty')
  const read = readAutoscale(request.parameters, createAutoscale.place)
  if (!read.ok) throw new RequestError(read.problems)
  const {
    minSize = defaultAutoscale.minSize,
    maxSize = defaultAutoscale.maxSize,
    warmupMs,
    cooldownMs,
    policies,
  } = read.value
  if (minSize < 1 || minSize > maxSize || maxSize > maxSimulatedSize) {
    throw new CliFailure(
      `the sizes must be 1 <= min_size <= max_size <= ${maxSimulatedSize}: ${minSize} and ${maxSize} are not`,
    )
  }
  return { minSize, maxSize, warmupMs, cooldownMs, policies }
}
