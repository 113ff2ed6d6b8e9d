/**
 * The documents of an image as OCI and Docker define them, read from bytes whose digest has been verified.
 * Their form is checked, because any user who pushes writes them.
 */

export const manifestMediaTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
] as const
export const indexMediaTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
] as const
/**
 * The types that are accepted from the registry. Without the index types the registry itself would choose a
 * platform, and return another digest.
 */
export const acceptedMediaTypes = [...manifestMediaTypes, ...indexMediaTypes].join(', ')

/** The most layers of an image. Container tools refuse more than 127. */
export const maxLayers = 127
const maxIndexEntries = 256

export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly annotations: Readonly<Record<string, string>>
}

export interface ImageManifest {
  readonly kind: 'manifest'
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
  readonly annotations: Readonly<Record<string, string>>
}

export interface ImageIndex {
  readonly kind: 'index'
  readonly entries: readonly (Descriptor & { readonly os: string; readonly architecture: string })[]
}

export interface ImageConfig {
  readonly architecture: string
  readonly os: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly env: readonly string[]
  readonly workingDirectory: string
  readonly user: string
  readonly labels: Readonly<Record<string, string>>
}

/** A document of an image is malformed. The message names the part. */
export class MalformedImageError extends Error {
  override readonly name = 'MalformedImageError'
}

export function parseManifest(bytes: Buffer): ImageManifest | ImageIndex {
  const json = parseJson(bytes, 'manifest')
  if (Array.isArray(json['manifests'])) return parseIndex(json['manifests'])
  if (json['schemaVersion'] !== 2 || !Array.isArray(json['layers'])) {
    throw new MalformedImageError('the manifest is neither an OCI nor a Docker (schema 2) image manifest')
  }
  if (json['layers'].length > maxLayers) {
    throw new MalformedImageError(
      `the image has ${json['layers'].length} layers, at most ${maxLayers} are allowed`,
    )
  }
  return {
    kind: 'manifest',
    config: parseDescriptor(json['config'], 'config'),
    layers: json['layers'].map((layer, index) => parseDescriptor(layer, `layers[${index}]`)),
    annotations: stringRecord(json['annotations'], 'annotations'),
  }
}

function parseIndex(manifests: readonly unknown[]): ImageIndex {
  if (manifests.length > maxIndexEntries) {
    throw new MalformedImageError(
      `the index has ${manifests.length} entries, at most ${maxIndexEntries} are allowed`,
    )
  }
  const entries = manifests.map((entry, index) => {
    const descriptor = parseDescriptor(entry, `manifests[${index}]`)
    const platform = isObject(entry) && isObject(entry['platform']) ? entry['platform'] : {}
    return { ...descriptor, os: text(platform['os']), architecture: text(platform['architecture']) }
  })
  return { kind: 'index', entries }
}

export function parseImageConfig(bytes: Buffer): ImageConfig {
  const json = parseJson(bytes, 'configuration')
  const config = isObject(json['config']) ? json['config'] : {}
  return {
    architecture: text(json['architecture']),
    os: text(json['os']),
    entrypoint: strings(config['Entrypoint'], 'config.Entrypoint'),
    command: strings(config['Cmd'], 'config.Cmd'),
    env: strings(config['Env'], 'config.Env'),
    workingDirectory: text(config['WorkingDir']),
    user: text(config['User']),
    labels: stringRecord(config['Labels'], 'config.Labels'),
  }
}

/**
 * The operating systems whose images are accepted; an index is searched in this order. Users publish kernels
 * of their own for certain monitors, and kernels for all of these run here.
 */
const acceptedSystems = ['linux', 'kraftcloud', 'qemu', 'fc', '']
const acceptedArchitectures = new Set(['amd64', 'x86_64', ''])

export function runsHere(platform: { readonly os: string; readonly architecture: string }): boolean {
  return acceptedSystems.includes(platform.os) && acceptedArchitectures.has(platform.architecture)
}

/**
 * The entry of an index that this platform runs: linux/amd64 if the index has it. Undefined if there is no
 * entry that it runs.
 */
export function chooseEntry(index: ImageIndex): Descriptor | undefined {
  return index.entries
    .filter((entry) => runsHere(entry))
    .sort((a, b) => acceptedSystems.indexOf(a.os) - acceptedSystems.indexOf(b.os))
    .at(0)
}

type Json = Record<string, unknown>

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseJson(bytes: Buffer, what: string): Json {
  let json: unknown
  try {
    json = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw new MalformedImageError(`the ${what} of the image is not JSON`, { cause: error })
  }
  if (!isObject(json)) throw new MalformedImageError(`the ${what} of the image is not a JSON object`)
  return json
}

function parseDescriptor(value: unknown, path: string): Descriptor {
  if (!isObject(value)) throw new MalformedImageError(`'${path}' of the manifest is not an object`)
  const { mediaType, digest, size } = value
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new MalformedImageError(`'${path}.digest' of the manifest is not a sha256 digest`)
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw new MalformedImageError(`'${path}.size' of the manifest is not a size`)
  }
  return {
    mediaType: text(mediaType),
    digest,
    size,
    annotations: stringRecord(value['annotations'], `${path}.annotations`),
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function strings(value: unknown, path: string): readonly string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || !value.every((item): item is string => typeof item === 'string')) {
    throw new MalformedImageError(`'${path}' of the image is not a list of strings`)
  }
  return value
}

function stringRecord(value: unknown, path: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) throw new MalformedImageError(`'${path}' of the image is not an object`)
  const entries = Object.entries(value).map(([key, item]): [string, string] => {
    if (typeof item === 'string') return [key, item]
    throw new MalformedImageError(`'${path}' of the image has a value that is not a string`)
  })
  return Object.fromEntries(entries)
}
