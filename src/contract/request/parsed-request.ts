/** How a request names an object. The value is in its canonical, lower-case form. */
export interface Target {
  readonly by: 'uuid' | 'name'
  readonly value: string
  /** Where a path names the object and an endpoint could stand in its place: that path. */
  readonly endpointPath?: string
}

export interface RequestObject<B> {
  /** Absent where the request names none: in a create, in a filter, and where it means all objects. */
  readonly target?: Target
  readonly parameters: B
}

/** A part of a list. Clients give either the last entry that they have, or how many they have. */
export interface Page {
  readonly count?: number
  /** The UUID or digest after which the page begins. */
  readonly after?: string
  /** How many entries the page leaves out. */
  readonly offset?: number
}

/** A request whose parameters are all known to be well-formed. */
export interface ParsedRequest<B = unknown, Q = unknown> {
  /** Of what the objects are parts; there where the operation's path has one. */
  readonly owner?: Target
  /** The path names the one object. */
  readonly local: boolean
  /** In the order in which the request names them; the answer has one entry each, in the same order. */
  readonly objects: readonly RequestObject<B>[]
  readonly query: Q
  readonly page: Page
}

/** The untouched parts of a request, as the server received them. */
export interface RawRequest {
  /** What stands for the owner in the path, decoded. */
  readonly owner?: string
  /** The part of the path in local scope, decoded. */
  readonly object?: string
  /** What stands behind the question mark, as it is. */
  readonly query: string
  /** Absent where the request has no body or an empty one. */
  readonly body?: unknown
}
