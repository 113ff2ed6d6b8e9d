/** How a request names an object. The value is in its canonical, lower-case form. */
export interface Target {
  readonly by: 'uuid' | 'name'
  readonly value: string
  /** Set if a path names the object by a word that could also be an endpoint: the path of that endpoint. */
  readonly endpointPath?: string
}

export interface RequestObject<B> {
  /** Absent if the request names no object: in a create, in a filter, and if it means all objects. */
  readonly target?: Target
  readonly parameters: B
}

/**
 * A part of a list. To ask for the next one, clients give either the last entry that they have, or how many
 * they have.
 */
export interface Page {
  readonly count?: number
  /** The UUID or digest after which the page begins. */
  readonly after?: string
  /** How many entries to leave out before the page begins. */
  readonly offset?: number
}

/** A request whose parameters are all well-formed. */
export interface ParsedRequest<B = unknown, Q = unknown> {
  /** The object of which the request's objects are parts; present if the operation's path has one. */
  readonly owner?: Target
  /** Whether the path names the one object. */
  readonly local: boolean
  /** In the order in which the request names them; the answer has one entry each, in the same order. */
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
  /** The text after the question mark, unchanged. */
  readonly query: string
  /** Absent if the request has no body or an empty one. */
  readonly body?: unknown
}
