import type { Static, TObject } from 'typebox'
import type { TokenScope } from '../domain/account/token-scope.ts'

/** How a request names its objects. Conventions 1 and 2 of the API follow from it (`request/objects.ts`). */
export const Scope = {
  /** The body describes new objects, one or an array of them. */
  Create: 'create',
  /** Objects that the request must name: by a body, by query lists, or by the path. */
  Objects: 'objects',
  /** Like `Objects`, but if a request names no object, all objects are meant. */
  ObjectsOrAll: 'objects-or-all',
  /**
   * A collection. The body holds one filter or an array of filters. An object is in the answer if it
   * matches any of them.
   */
  Collection: 'collection',
  /** The account of the token. */
  Account: 'account',
} as const
export type Scope = (typeof Scope)[keyof typeof Scope]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The key of `data` in the answer. */
export const DataKey = {
  Instances: 'instances',
  ServiceGroups: 'service_groups',
  Certificates: 'certificates',
  Images: 'images',
  Volumes: 'volumes',
  Schedules: 'schedules',
  Quotas: 'quotas',
  Policies: 'policies',
  Tokens: 'tokens',
  Events: 'events',
  Hosts: 'hosts',
  Moves: 'moves',
  Users: 'users',
  Installations: 'installations',
} as const
export type DataKey = (typeof DataKey)[keyof typeof DataKey]

/** The form of an answer beside JSON. The header `Accept` of a request selects one of the two. */
export const TextForm = {
  /** Metrics in the Prometheus text format. They are sent unless `application/json` is asked for. */
  Prometheus: 'prometheus',
  /** The `text` of each entry. It is sent if `text/plain` is asked for, and `application/json` is not. */
  Explanation: 'explanation',
} as const
export type TextForm = (typeof TextForm)[keyof typeof TextForm]

/** The fields that can name an object. */
export type IdentifierKey = 'uuid' | 'name'

/**
 * One line of the API's table. Router, validation, OpenAPI, documents and tests all read it, so an operation
 * that is not in it does not exist.
 */
export interface Operation<
  B extends TObject = TObject,
  Q extends TObject = TObject,
  E extends TObject = TObject,
> {
  readonly id: string
  readonly method: Method
  /**
   * The path in global scope. If it contains `{owner}`, that part names, by UUID or name, the object to
   * which the operation's objects belong.
   */
  readonly path: string
  /** The path of the same operation on one object, which `{object}` names by its UUID or name. */
  readonly localPath?: string
  readonly scope: Scope
  /**
   * What the request's token needs: any one of these scopes, or a scope that includes one of them
   * (`permits`). If the list is empty, only a token with all rights may use the operation.
   */
  readonly tokenScopes: readonly TokenScope[]
  /**
   * Whether all objects of the operation belong to services, so that a token that is limited to services may
   * use it. Its handler then has to treat objects out of the token's reach as if they did not exist. False:
   * a limited token is refused, whatever the request names.
   */
  readonly withinServices: boolean
  /**
   * How objects may be named. If it is absent, they are named by UUID or name. Parts of an object may have
   * no UUID, and tokens have no name.
   */
  readonly identifiedBy?: readonly IdentifierKey[]
  /** The name of the parameters in messages, such as `instance creation arguments`. */
  readonly place: string
  /** The parameters per object, without identifiers. With `inQuery` they may also be in the query. */
  readonly body: B
  readonly inQuery?: true
  /** The parameters of the whole request, which are only in the query. */
  readonly query: Q
  /** Present if `count` and `from` select a page of the result. */
  readonly paged?: true
  /** Present if `order` and `sortby` give the order of a list of all objects. */
  readonly ordered?: true
  /**
   * Another form of the body: `ids` names several objects, and the parameters beside it apply to all of
   * them.
   */
  readonly idsForm?: TObject
  /**
   * Present if each object of the body is a change of an object's properties. Then it may also have the form
   * `{ prop, op, value }` (`request/plain-change.ts`), and the body may be an array in local scope, too.
   */
  readonly changes?: true
  /** Present if the answer may take as long as the request asks to wait. */
  readonly waits?: true
  readonly dataKey: DataKey
  /** One successful entry of the answer. */
  readonly entry: E
  /**
   * Present if the answer is a stream of server-sent events, each with one entry as its data. It lasts until
   * the client ends it.
   */
  readonly streams?: true
  /**
   * Present if `follow=true` in the query selects a stream of server-sent events in place of the answer.
   * Each of the type `follows` has one entry as its data.
   */
  readonly follows?: string
  /**
   * Present if the request asks for an upgrade to a WebSocket, whose messages `docs/api.md` describes. Only a
   * failure has an answer then.
   */
  readonly upgrades?: true
  /** Present if the answer can also be text. */
  readonly textForm?: TextForm
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
