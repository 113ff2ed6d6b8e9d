import { Handler } from './handler.ts'
import type { PublishedPort } from './handler.ts'
import type { ConnectionLimits } from './ports.ts'

/** What can be changed of a service, by the names that users have for it. */
export const ServiceProperty = {
  SoftLimit: 'soft_limit',
  HardLimit: 'hard_limit',
  Ports: 'services',
  Domains: 'domains',
} as const
export type ServiceProperty = (typeof ServiceProperty)[keyof typeof ServiceProperty]

/**
 * What a request does with a list in which each item has a key of its own. The list is replaced first, then
 * items are taken away, then others are added.
 */
export interface ListChange<Item, Key> {
  /** The items that replace the list. Absent: the list stays. */
  readonly set?: readonly Item[]
  /** The keys of the items that are taken away. */
  readonly del: readonly Key[]
  /** The items that are added. An item replaces the one that has the same key, in its place. */
  readonly add: readonly Item[]
}

export type ListOutcome<Item, Key> =
  | { readonly ok: true; readonly list: readonly Item[] }
  /** An item was to be taken away that is not in the list. `present` has the keys of those that are. */
  | { readonly ok: false; readonly missing: Key; readonly present: readonly Key[] }

export function changedList<Item, Key>(
  before: readonly Item[],
  change: ListChange<Item, Key>,
  keyOf: (item: Item) => Key,
): ListOutcome<Item, Key> {
  const items = new Map((change.set ?? before).map((item) => [keyOf(item), item]))
  for (const key of change.del) {
    if (!items.delete(key)) return { ok: false, missing: key, present: [...items.keys()] }
  }
  for (const item of change.add) items.set(keyOf(item), item)
  return { ok: true, list: [...items.values()] }
}

/** The part of a service that a change can be about. */
export interface ServiceShape extends ConnectionLimits {
  readonly ports: readonly PublishedPort[]
  /** The domains in their order. */
  readonly domains: readonly { readonly fqdn: string; readonly certificateUuid: string | null }[]
}

/** The properties that differ between two shapes of a service. */
export function changedProperties(before: ServiceShape, after: ServiceShape): readonly ServiceProperty[] {
  const textOf: Readonly<Record<ServiceProperty, (shape: ServiceShape) => string>> = {
    [ServiceProperty.SoftLimit]: ({ softLimit }) => String(softLimit),
    [ServiceProperty.HardLimit]: ({ hardLimit }) => String(hardLimit),
    [ServiceProperty.Ports]: ({ ports }) => ports.map(wholePort).join(),
    [ServiceProperty.Domains]: ({ domains }) =>
      domains.map(({ fqdn, certificateUuid }) => `${fqdn} ${certificateUuid ?? ''}`).join(),
  }
  return Object.values(ServiceProperty).filter((property) => {
    const text = textOf[property]
    return text(before) !== text(after)
  })
}

/** What was changed, in words that follow "a change was asked for: ". */
export function changeText(before: ServiceShape, after: ServiceShape): string {
  const parts: Readonly<Record<ServiceProperty, () => string>> = {
    [ServiceProperty.SoftLimit]: () => `soft_limit from ${before.softLimit} to ${after.softLimit}`,
    [ServiceProperty.HardLimit]: () => `hard_limit from ${before.hardLimit} to ${after.hardLimit}`,
    [ServiceProperty.Ports]: () => `ports ${portsText(after)} (before: ${portsText(before)})`,
    [ServiceProperty.Domains]: () => `domains ${domainsText(before, after)}`,
  }
  return changedProperties(before, after)
    .map((property) => parts[property]())
    .join('; ')
}

/** The values before and after, of what was changed. */
export function changeFacts(
  before: ServiceShape,
  after: ServiceShape,
): Readonly<Record<string, string | number>> {
  const valueOf: Readonly<Record<ServiceProperty, (shape: ServiceShape) => string | number>> = {
    [ServiceProperty.SoftLimit]: ({ softLimit }) => softLimit,
    [ServiceProperty.HardLimit]: ({ hardLimit }) => hardLimit,
    [ServiceProperty.Ports]: ({ ports }) => ports.map(wholePort).join(', '),
    [ServiceProperty.Domains]: ({ domains }) => domains.map(({ fqdn }) => fqdn).join(', '),
  }
  return Object.fromEntries(
    changedProperties(before, after).flatMap((property) => [
      [`${property}_before`, valueOf[property](before)],
      [property, valueOf[property](after)],
    ]),
  )
}

/** A port as the command line writes it, such as `443:8080/tls+http`. */
function wholePort({ port, destinationPort, handlers }: PublishedPort): string {
  return `${port}:${destinationPort}/${handlers.join('+')}`
}

/** Ports by their numbers; those that lead elsewhere also say where. */
function portsText({ ports }: Pick<ServiceShape, 'ports'>): string {
  return ports.length === 0 ? 'none' : ports.map(shortPort).join(', ')
}

function shortPort({ port, destinationPort, handlers }: PublishedPort): string {
  if (handlers.includes(Handler.Redirect)) return `${port} to https`
  return port === destinationPort ? `${port}` : `${port}:${destinationPort}`
}

function domainsText({ domains: before }: ServiceShape, { domains: after }: ServiceShape): string {
  const had = new Map(before.map(({ fqdn, certificateUuid }) => [fqdn, certificateUuid]))
  const has = new Set(after.map(({ fqdn }) => fqdn))
  const words = [
    ...after.flatMap(({ fqdn }) => (had.has(fqdn) ? [] : [`+${fqdn}`])),
    ...before.flatMap(({ fqdn }) => (has.has(fqdn) ? [] : [`-${fqdn}`])),
    ...after.flatMap(({ fqdn, certificateUuid }) =>
      had.has(fqdn) && had.get(fqdn) !== certificateUuid ? [`${fqdn} with another certificate`] : [],
    ),
  ]
  return words.length === 0 ? 'in another order' : words.join(' ')
}
