import { maxDomainLabelLength } from './domain-name.ts'
import { parseObjectName, replicaName } from '../object-name.ts'

/** How many random characters end a generated service name, and a domain that is derived from a name. */
export const serviceSuffixLength = 8
/** How many random characters end the generated name of a certificate. */
export const certificateSuffixLength = 5

const qualities = (
  'amber brisk calm clear cosy crisp dapper early even fair fine firm fleet fresh gentle glad golden green ' +
  'hardy honest jolly keen kind light lively lucid mellow mild neat nimble plain polar prime proud quick quiet ' +
  'rapid ready round rustic sandy sharp silent silver simple sleek smooth snug solid spare stable steady still ' +
  'sunny swift tidy trim vivid warm wide'
).split(' ')
const things = (
  'acorn anchor arbor badge basin beacon birch bridge brook cabin canyon cedar cliff cloud clover coast comet ' +
  'coral cove creek delta dune elm ember fern field finch fjord garden glade grove harbor heron hill island ' +
  'lagoon lake lantern maple marsh meadow mesa moss oak orchard otter path pebble pine plain pond prairie quarry ' +
  'reef ridge river robin shore spruce stone stream summit thicket tide trail valley willow'
).split(' ')

/** Returns `<word>-<word>-<suffix>`. `pick` chooses a whole number below its argument. */
export function generatedServiceName(pick: (below: number) => number, suffix: string): string {
  return `${qualities[pick(qualities.length)]}-${things[pick(things.length)]}-${suffix}`
}

/**
 * Returns `<name>-<suffix>` as one label: dots of the name become hyphens, and a name that is too long is
 * cut.
 */
export function derivedLabel(name: string, suffix: string): string {
  const flat = name.replaceAll('.', '-').slice(0, maxDomainLabelLength - suffix.length - 1)
  return `${flat.replace(/-+$/, '')}-${suffix}`
}

/**
 * Returns `<domain>-<suffix>` within the rules of object names, which are narrower than those of domains.
 * The wildcard part is left out, and so are digits and hyphens where a label may not have them.
 */
export function generatedCertificateName(fqdn: string, suffix: string): string {
  const labels = fqdn
    .split('.')
    .map((label) => label.replaceAll(/-{2,}/g, '-').replace(/^[^a-z]+/, ''))
    .filter((label) => label !== '')
  return replicaName(parseableName(labels), suffix)
}

/** The whole name if it is valid; else as many labels from the front as are valid together. */
function parseableName(labels: readonly string[]): string {
  for (let count = labels.length; count > 0; count--) {
    const name = labels.slice(0, count).join('.')
    if (parseObjectName(name) !== undefined) return name
  }
  return 'certificate'
}
