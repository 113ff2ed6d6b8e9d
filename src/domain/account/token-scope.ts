/** What a token may be used for. A token without scopes has all rights. */
export const TokenScope = {
  /** Everything that shows objects of the account and changes nothing. */
  Read: 'read',
  /** Everything that makes, changes or deletes objects, and `read`. Tokens are not among these objects. */
  Operate: 'operate',
  /** Pushes, pulls and deletions of the account's images, and the list of images. */
  ImagesPush: 'images:push',
  /** The metrics of instances. */
  Metrics: 'metrics',
} as const
export type TokenScope = (typeof TokenScope)[keyof typeof TokenScope]

export const tokenScopes: readonly TokenScope[] = Object.values(TokenScope)

/**
 * Whether the scope of a row includes the scope of a column. The table is total: a new scope does not compile
 * until all is decided.
 */
const includes: Readonly<Record<TokenScope, Readonly<Record<TokenScope, boolean>>>> = {
  [TokenScope.Read]: { read: true, operate: false, 'images:push': false, metrics: true },
  [TokenScope.Operate]: { read: true, operate: true, 'images:push': false, metrics: true },
  [TokenScope.ImagesPush]: { read: false, operate: false, 'images:push': true, metrics: false },
  [TokenScope.Metrics]: { read: false, operate: false, 'images:push': false, metrics: true },
}

/** The rights of a token. */
export interface TokenRights {
  /** Null: all rights. */
  readonly scopes: readonly TokenScope[] | null
  /**
   * The names of the services to which the token is limited. Null: the token is not limited. A limited token
   * always has scopes.
   */
  readonly services: readonly string[] | null
}

export const allRights: TokenRights = { scopes: null, services: null }

/** The scopes of an operation that only a token with all rights may use. */
export const noScopeSuffices: readonly TokenScope[] = []

/**
 * Whether a token with these scopes may do something for which any one of the scopes in `sufficient` is
 * enough.
 */
export function permits(scopes: TokenRights['scopes'], sufficient: readonly TokenScope[]): boolean {
  if (scopes === null) return true
  return sufficient.some((needed) => scopes.some((scope) => includes[scope][needed]))
}

/** Why no token can have certain rights. */
export const RightsFlaw = {
  /** The token would have all rights and yet be limited to services. */
  LimitedWithoutScopes: 'limited-without-scopes',
  /** Images belong to the account and not to a service. */
  LimitedPush: 'limited-push',
} as const
export type RightsFlaw = (typeof RightsFlaw)[keyof typeof RightsFlaw]

/** Finds what contradicts itself in the rights of a token. */
export function findRightsFlaw({ scopes, services }: TokenRights): RightsFlaw | undefined {
  if (services === null) return undefined
  if (scopes === null) return RightsFlaw.LimitedWithoutScopes
  return scopes.includes(TokenScope.ImagesPush) ? RightsFlaw.LimitedPush : undefined
}
