/** How a request names an object. The value is in its canonical, lower-case form. */
export interface Target {
  readonly by: 'uuid' | 'name'
  readonly value: string
  /**
   * The path of an endpoint. It is present if the request's path names the object by a word that could also
   * be meant as that endpoint.
   */
  readonly endpointPath?: string
}

export interface RequestObject<B> {
  /**
   * The object that the request names. It is absent in a create, in a filter, and if the request means all
   * objects.
   */
  readonly target?: Target
  readonly parameters: B
}

/** Lists are in the order of creation. */
export const ListOrder = { OldestFirst: 'asc', NewestFirst: 'desc' } as const
export type ListOrder = (typeof ListOrder)[keyof typeof ListOrder]

/**
 * A part of a list. To ask for the next one, clients give either the last entry that they have, or how many
 * they have.
 */
export interface Page {
  readonly count?: number
  /** The UUID or digest after which the page begins. */
  readonly after?: string
  /** Present if the page begins with that entry itself (`inclusive-cursor.ts`). */
  readonly isInclusive?: true
  /** How many entries to leave out before the page begins. */
  readonly offset?: number
  /** Default: the oldest first. */
  readonly order?: ListOrder
}

/** A request whose parameters are all well-formed. */
export interface ParsedRequest<B = unknown, Q = unknown> {
  /**
   * The object to which the request's objects belong. It is present if the operation's path has an owner.
   */
  readonly owner?: Target
  /** Whether the path names the one object. */
  readonly local: boolean
  /** The objects in the order of the request. The answer has one entry for each, in the same order. */
  readonly objects: readonly RequestObject<B>[]
  readonly query: Q
  readonly page: Page
}

/** The untouched parts of a request, as the server received them. */
export interface RawRequest {
  /** The part of the path that names the owner, decoded. */
  readonly owner?: string
  /** The part of the path that names the object in local scope, decoded. */
  readonly object?: string
  /** The header `User-Agent`. It is absent if the request has none. */
  readonly userAgent?: string
  /** The text after the question mark, unchanged. */
  readonly query: string
  /** The body. It is absent if the request has none or an empty one. */
  readonly body?: unknown
}
