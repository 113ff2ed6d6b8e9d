import type { Static, TObject } from 'typebox'

/**
 * How the objects of a request are named. Conventions 1 and 2 of the API follow from it
 * (`request-objects.ts`).
 */
export const Scope = {
  /** The body describes new objects, one or an array of them. */
  Create: 'create',
  /** Objects that the request must name: by a body, by query lists, or by the path. */
  Objects: 'objects',
  /** The same, but naming none means all. */
  ObjectsOrAll: 'objects-or-all',
  /** A collection; the body holds filters, one or an array of which any may match. */
  Collection: 'collection',
  /** The account of the token. */
  Account: 'account',
} as const
export type Scope = (typeof Scope)[keyof typeof Scope]

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The key of `data` in the answer. */
export const DataKey = {
  Instances: 'instances',
  ServiceGroups: 'service_groups',
  Certificates: 'certificates',
  Images: 'images',
  Volumes: 'volumes',
  Quotas: 'quotas',
  Policies: 'policies',
} as const
export type DataKey = (typeof DataKey)[keyof typeof DataKey]

/** What objects can be named by. */
export type IdentifierKey = 'uuid' | 'name'

/**
 * One line of the API's table. Router, validation, OpenAPI, documents and tests all read it, so what is not
 * here does not exist.
 */
export interface Operation<
  B extends TObject = TObject,
  Q extends TObject = TObject,
  E extends TObject = TObject,
> {
  readonly id: string
  readonly method: Method
  /** `{owner}` in it names, by UUID or name, the object that those of the operation are parts of. */
  readonly path: string
  /** The same operation on one object, which `{object}` in the path names by its UUID or name. */
  readonly localPath?: string
  readonly scope: Scope
  /** Absent: by UUID or name. Parts of an object may have no UUID. */
  readonly identifiedBy?: readonly IdentifierKey[]
  /** What the parameters are called in messages, such as `instance creation arguments`. */
  readonly place: string
  /** Parameters per object, without identifiers. They may come by the query too where `inQuery` says so. */
  readonly body: B
  readonly inQuery?: true
  /** Parameters of the whole request, by the query only. */
  readonly query: Q
  /** `count` and `from` page through the result. */
  readonly paged?: true
  /** Another form of the body: `ids` names several objects, what stands beside it holds for all of them. */
  readonly idsForm?: TObject
  /** The answer may take as long as the request asks to wait. */
  readonly waits?: true
  readonly dataKey: DataKey
  /** One successful entry of the answer. */
  readonly entry: E
  /** Besides the JSON form, which `Accept: application/json` selects. */
  readonly textForm?: 'prometheus'
  readonly summary: string
  readonly description: string
}

export type OperationBody<O extends Operation> = Static<O['body']>
export type OperationQuery<O extends Operation> = Static<O['query']>
export type OperationEntry<O extends Operation> = Static<O['entry']>

export function identifiersOf({ identifiedBy = ['uuid', 'name'] }: Operation): readonly IdentifierKey[] {
  return identifiedBy
}

export function defineOperation<B extends TObject, Q extends TObject, E extends TObject>(
  operation: Operation<B, Q, E>,
): Operation<B, Q, E> {
  return operation
}
