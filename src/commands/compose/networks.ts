import type { LocatedMap } from './located-yaml.ts'
import { valueAt } from './reader.ts'
import type { Reader } from './reader.ts'
import { placeOf } from './service-values.ts'

/**
 * All instances of an account on a host reach each other. So networks are taken if they keep no two
 * services apart, and refused otherwise.
 */
export function checkNetworks(
  reader: Reader,
  file: LocatedMap,
  services: ReadonlyMap<string, LocatedMap>,
): void {
  checkTopNetworks(reader, file)
  const joined = [...services].map(([key, service]) => ({ key, service, names: namesOf(reader, service) }))
  for (const [index, one] of joined.entries()) {
    const apart = joined.slice(0, index).find(({ names }) => !names.some((name) => one.names.includes(name)))
    if (apart === undefined) continue
    reader.refuse(
      one.service.entries.get('networks') ?? one.service,
      `'${one.key}' and '${apart.key}' have no network in common, but all instances of an account reach each other: ` +
        'put them into one network, or let each protect itself by a password',
    )
  }
}

function checkTopNetworks(reader: Reader, file: LocatedMap): void {
  const value = valueAt(file, 'networks')
  const networks = value && reader.map(value, 'networks')
  for (const [key, { value: found }] of networks?.entries ?? []) {
    if (found.kind === 'scalar' && found.text === null) continue
    const map = reader.map(found, `the network ${key}`)
    if (map === undefined) continue
    const own = 'the network of the account is the only one'
    reader.keys(map, `of the network ${key}`, {
      read: ['driver', 'name', 'internal', 'attachable', 'external'],
      refused: { driver_opts: own, ipam: own, enable_ipv4: own, enable_ipv6: own, labels: own },
    })
    const driver = valueAt(map, 'driver')
    if (driver !== undefined) reader.choice(driver, 'driver', ['bridge'])
    const internal = valueAt(map, 'internal')
    if (internal !== undefined && reader.boolean(internal, 'internal') === true) {
      reader.refuse(
        internal,
        "'internal' can not be done: the installation sets whether instances reach the outside",
      )
    }
    const external = valueAt(map, 'external')
    if (external !== undefined && reader.boolean(external, 'external') === true) {
      reader.refuse(
        external,
        "'external' can not be done: other instances of the account are reached as '<name>.internal'",
      )
    }
  }
}

function namesOf(reader: Reader, service: LocatedMap): readonly string[] {
  const value = valueAt(service, 'networks')
  if (value === undefined) return ['default']
  if (value.kind !== 'map') return reader.texts(value, 'networks')
  for (const [key, { value: found, ...place }] of value.entries) {
    if (found.kind === 'scalar' && found.text === null) continue
    const map = reader.map(found, `the network ${key}`)
    if (map !== undefined && map.entries.size > 0) {
      const [first] = map.entries.keys()
      const at = map.entries.get(first ?? '') ?? place
      reader.refuse(
        placeOf(at),
        `'${first}' of a service's network can not be done: a service has its name and an address of its own`,
      )
    }
  }
  return [...value.entries.keys()]
}
