/**
 * The labels of a host: facts that administrators note about a machine, such as `disk=nvme`. Nothing is
 * decided by them.
 */
export type HostLabels = Readonly<Record<string, string>>

/** What is to become of a host's labels. A key that is in both is set. */
export interface LabelChange {
  readonly set?: HostLabels
  readonly remove?: readonly string[]
}

/** The most labels of a host: as many as an instance may have tags. */
export const maxHostLabels = 16
/** The longest key and the longest value of a label. */
export const maxHostLabelLength = 63

/**
 * A key begins and ends with a letter or digit, so that `key-` can ask for its removal on a command line. A
 * value may be empty.
 */
export const hostLabelKey = `^[a-z0-9](?:[a-z0-9._/-]{0,${maxHostLabelLength - 2}}[a-z0-9])?$`
export const hostLabelValue = `^[A-Za-z0-9._:/@+-]{0,${maxHostLabelLength}}$`

/** The labels after a change. Undefined if there would be more than a host may have. */
export function changedLabels(
  before: HostLabels,
  { set = {}, remove = [] }: LabelChange,
): HostLabels | undefined {
  const kept = Object.entries(before).filter(([key]) => !remove.includes(key) && !Object.hasOwn(set, key))
  const after = [...kept, ...Object.entries(set)]
  return after.length > maxHostLabels ? undefined : Object.fromEntries(after)
}

/** Labels for people, by key: `disk=nvme, zone=a`. The database keeps them in an order of its own. */
export function labelsText(labels: HostLabels): string {
  return Object.entries(labels)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')
}
