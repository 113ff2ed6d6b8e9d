import { parseObjectName } from '../../domain/object-name.ts'
import { readMegabytes } from './amounts.ts'
import type { Located, LocatedMap } from './located-yaml.ts'
import { objectName } from './project.ts'
import type { Mount, ProjectVolume } from './project.ts'
import { entry, shown, valueAt } from './reader.ts'
import type { Reader } from './reader.ts'
import { placeOf } from './service-values.ts'

/** The size of a volume for which the file names none. */
export const defaultVolumeMb = 1_024

/** The volumes of a file, by the names that they have there. */
export type Volumes = ReadonlyMap<string, ProjectVolume>

export function readVolumes(reader: Reader, file: LocatedMap, project: string): Volumes {
  const value = valueAt(file, 'volumes')
  const map = value && reader.map(value, 'volumes')
  return new Map(
    [...(map?.entries ?? [])].map(([key, { value: found, ...place }]) => [
      key,
      { ...readVolume(reader, { key, found, project, place }), ...placeOf(place) },
    ]),
  )
}

function readVolume(
  reader: Reader,
  {
    key,
    found,
    project,
    place,
  }: {
    readonly key: string
    readonly found: Located
    readonly project: string
    readonly place: Parameters<typeof placeOf>[0]
  },
): Pick<ProjectVolume, 'name' | 'sizeMb' | 'isExternal'> {
  const map =
    found.kind === 'scalar' && found.text === null ? undefined : reader.map(found, `the volume ${key}`)
  if (map !== undefined) {
    const refused = { labels: 'volumes have no tags; leave them out' }
    reader.keys(map, `of the volume ${key}`, { read: ['name', 'external', 'driver', 'driver_opts'], refused })
  }
  const external = valueAt(map, 'external')
  const isExternal = external !== undefined && reader.boolean(external, 'external') === true
  const driver = valueAt(map, 'driver')
  if (driver !== undefined) reader.choice(driver, 'driver', ['local'])
  const given = valueAt(map, 'name')
  const text = given && reader.text(given, 'name')
  const name = parseObjectName(text ?? (isExternal ? key : objectName(key, project)))
  if (name === undefined) {
    const rule = 'expected letters, digits and single hyphens, beginning with a letter'
    reader.refuse(given ?? place, `'${given ? shown(given) : key}' is no name of a volume: ${rule}`)
  }
  return { name: name ?? key, sizeMb: readSize(reader, map, key), isExternal }
}

function readSize(reader: Reader, map: LocatedMap | undefined, key: string): number {
  const value = valueAt(map, 'driver_opts')
  const options = value && reader.map(value, 'driver_opts')
  if (options === undefined) return defaultVolumeMb
  const refused = {
    type: 'a volume is a file system of its own, on the host of its instance',
    o: "what a mount may do is said at the service, with ':ro'",
    device: 'a directory of a host can not be a volume',
  }
  reader.keys(options, `of 'driver_opts' of the volume ${key}`, { read: ['size'], refused })
  const size = valueAt(options, 'size')
  return (size && readMegabytes(reader, size, 'size')) ?? defaultVolumeMb
}

/** The volume of a service. An instance has at most one. */
export function readMount(reader: Reader, service: LocatedMap, volumes: Volumes): Mount | undefined {
  const value = valueAt(service, 'volumes')
  const items = value === undefined ? [] : (reader.list(value, 'volumes')?.items ?? [])
  const mounts = items.flatMap((item) => mountOf(reader, item, volumes) ?? [])
  const [first, second] = mounts
  if (second !== undefined) {
    reader.refuse(
      second,
      'a second volume of a service can not be done: an instance has one volume; give both kinds of data one directory',
    )
  }
  return first
}

function mountOf(reader: Reader, item: Located, volumes: Volumes): Mount | undefined {
  const found = item.kind === 'map' ? longMount(reader, item) : shortMount(reader, item)
  if (found === undefined) return undefined
  const { source, ...mount } = found
  const volume = volumes.get(source)
  const named = item.kind === 'scalar' ? `'${shown(item)}'` : 'of this entry'
  if (volume === undefined) {
    return reader.refuse(item, `the volume ${named} is not among the 'volumes' of the file`)
  }
  return { volume: volume.name, ...mount, ...placeOf(item) }
}

interface FoundMount {
  readonly source: string
  readonly at: string
  readonly readonly: boolean
}

const noBind = 'a directory of this machine can not be a volume: put its files into the image, or on a volume'
const unnamed = "a volume without a name would be lost: name it, and list it under 'volumes' of the file"

function shortMount(reader: Reader, item: Located): FoundMount | undefined {
  const text = reader.text(item, 'an entry of volumes')
  if (text === undefined) return undefined
  const parts = text.split(':')
  const [source = '', at, mode = 'rw'] = parts
  const refuse = (why: string) =>
    reader.refuse(item, `the volume '${shown(item)}' can not be attached: ${why}`)
  if (/^[./~]|^[A-Za-z]:?\\/.test(source)) return refuse(at === undefined ? unnamed : noBind)
  if (at === undefined || !at.startsWith('/') || parts.length > 3)
    return refuse('expected <volume>:<path>[:ro]')
  if (mode !== 'ro' && mode !== 'rw') return refuse("only 'ro' and 'rw' may stand behind the path")
  return { source, at, readonly: mode === 'ro' }
}

function longMount(reader: Reader, map: LocatedMap): FoundMount | undefined {
  const type = valueAt(map, 'type')
  const kind = type === undefined ? 'volume' : reader.text(type, 'type')
  if (kind === 'bind') return reader.refuse(map, `type 'bind' can not be done: ${noBind}`)
  if (kind === 'tmpfs') {
    return reader.refuse(
      map,
      "type 'tmpfs' can not be done: what is not on a volume is gone after a stop anyhow",
    )
  }
  if (kind !== 'volume') return reader.refuse(map, "the type of a volume has to be 'volume'")
  reader.keys(map, "of 'volumes'", {
    read: ['type', 'source', 'target', 'read_only'],
    refused: { volume: 'a volume is attached as a whole, and nothing is copied to it' },
  })
  const source = valueAt(map, 'source')
  const target = valueAt(map, 'target')
  if (source === undefined) return reader.refuse(map, unnamed)
  if (target === undefined) return reader.refuse(entry(map, 'source') ?? map, "'target' is missing")
  const readonly = valueAt(map, 'read_only')
  return {
    source: reader.text(source, 'source') ?? '',
    at: reader.text(target, 'target') ?? '',
    readonly: readonly !== undefined && reader.boolean(readonly, 'read_only') === true,
  }
}
