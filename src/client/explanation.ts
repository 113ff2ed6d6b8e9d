import { one } from './answers.ts'
import type { ApiClient } from './client.ts'

/** The objects that the API explains. */
export const ExplainedKind = {
  Instance: 'instance',
  Service: 'service',
  Volume: 'volume',
  Certificate: 'certificate',
  Autoscale: 'autoscale',
  Schedule: 'schedule',
  Host: 'host',
} as const
export type ExplainedKind = (typeof ExplainedKind)[keyof typeof ExplainedKind]

/** An explanation has fields of its own for each kind; `text` is all of it for people. */
export interface Explanation {
  readonly text: string
}

const readers = {
  [ExplainedKind.Instance]: async (client, params) =>
    one(await client.GET('/v1/instances/{object}/explain', params)),
  [ExplainedKind.Service]: async (client, params) =>
    one(await client.GET('/v1/services/{object}/explain', params)),
  [ExplainedKind.Volume]: async (client, params) =>
    one(await client.GET('/v1/volumes/{object}/explain', params)),
  [ExplainedKind.Certificate]: async (client, params) =>
    one(await client.GET('/v1/certificates/{object}/explain', params)),
  [ExplainedKind.Autoscale]: async (client, params) =>
    one(await client.GET('/v1/services/{object}/autoscale/explain', params)),
  [ExplainedKind.Schedule]: async (client, params) =>
    one(await client.GET('/v1/schedules/{object}/explain', params)),
  [ExplainedKind.Host]: async (client, params) => one(await client.GET('/v1/hosts/{object}/explain', params)),
} satisfies Record<ExplainedKind, Reader>

type Reader = (
  client: ApiClient,
  params: { readonly params: { readonly path: { readonly object: string } } },
) => Promise<Explanation>

/** Reads the explanation of one object. Throws `ApiFailure`, as when there is no such object. */
export async function readExplanation(
  client: ApiClient,
  { kind, object }: { readonly kind: ExplainedKind; readonly object: string },
): Promise<Explanation> {
  return await readers[kind](client, { params: { path: { object } } })
}
