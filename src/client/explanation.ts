import { ApiFailure, failureOf, withoutAnswer } from './api-failure.ts'
import { failureOfEntry, isFailed } from './answers.ts'
import { baseAddress, headersOf } from './client.ts'
import type { ApiAccess } from './client.ts'

/** The objects that the API explains. */
export const ExplainedKind = {
  Instance: 'instance',
  Service: 'service',
  Volume: 'volume',
  Certificate: 'certificate',
  Autoscale: 'autoscale',
} as const
export type ExplainedKind = (typeof ExplainedKind)[keyof typeof ExplainedKind]

/** An explanation has fields of its own for each kind; `text` is all of it for people. */
export interface Explanation extends Readonly<Record<string, unknown>> {
  readonly text: string
}

const paths = {
  [ExplainedKind.Instance]: (object) => `instances/${object}/explain`,
  [ExplainedKind.Service]: (object) => `services/${object}/explain`,
  [ExplainedKind.Volume]: (object) => `volumes/${object}/explain`,
  [ExplainedKind.Certificate]: (object) => `certificates/${object}/explain`,
  [ExplainedKind.Autoscale]: (object) => `services/${object}/autoscale/explain`,
} satisfies Record<ExplainedKind, (object: string) => string>

/** Reads the explanation of one object. Throws `ApiFailure`, as when there is no such object. */
export async function readExplanation(
  access: ApiAccess,
  { kind, object }: { readonly kind: ExplainedKind; readonly object: string },
): Promise<Explanation> {
  const path = paths[kind](encodeURIComponent(object))
  const request = new Request(`${baseAddress(access.address)}/v1/${path}`, { headers: headersOf(access) })
  const response = await (access.fetch ?? globalThis.fetch)(request).catch((error: unknown) => {
    throw withoutAnswer(access.address, error)
  })
  if (!response.ok) throw await failureOf(response)
  const { data = {} } = (await response.json()) as {
    readonly data?: Readonly<Record<string, readonly object[]>>
  }
  const entry = Object.values(data)[0]?.[0]
  if (entry === undefined) throw new ApiFailure('the answer of the API has no entry')
  if (isFailed(entry)) throw failureOfEntry(entry)
  return entry as Explanation
}
