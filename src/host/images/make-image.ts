import { constants, createWriteStream } from 'node:fs'
import { chown, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { splitArgumentLine } from '../../domain/instance/argument-line.ts'
import { kernelArgsLabel } from '../../domain/image/labels.ts'
import type { Descriptor, ImageConfig } from '../../registry/oci-manifest.ts'
import type { RegistryClient, RegistryImage } from '../../registry/registry-client.ts'
import type { ImageLimits } from './image-limits.ts'
import { ImageError } from './images.ts'
import type { PreparedImage } from './images.ts'
import type { LayerBlob } from './layer-content.ts'
import { initrdName, kernelName, rootfsName } from './unpack.ts'
import type { Unpacked } from './unpack.ts'
import type { Unpacker } from './unpacker.ts'
import type { Unpackers } from './unpackers.ts'

const blobsName = 'blobs'

export interface MakeImageInput {
  readonly repository: string
  readonly digest: string
  /** An empty directory for the image's files and all temporary files. */
  readonly directory: string
  /** Returns the path that a file of that directory will have once the image is published. */
  readonly fileOf: (name: string) => string
  readonly client: RegistryClient
  readonly limits: ImageLimits
  readonly sqfstar: string
  readonly unpackers: Unpackers
  /**
   * Called before more is written, with the bytes that everything together may take afterwards. Throws
   * ImageError if the disk has no room for them.
   */
  readonly reserve: (bytes: number) => Promise<void>
  readonly signal: AbortSignal
}

/**
 * Pulls an image and makes the files that a VM needs. A separate process reads the layers, which are
 * hostile; an abort kills it. Throws ImageError, RegistryError, LayerError, ...
 */
export async function makeImage(input: MakeImageInput): Promise<PreparedImage> {
  const { signal } = input
  // The process starts while the layers are pulled.
  const unpacker = await input.unpackers.take()
  const end = (): void => unpacker.end()
  signal.addEventListener('abort', end)
  try {
    const image = await input.client.image(input.repository, input.digest, signal)
    checkSizes(image, input.limits)
    const unpacked = await pullAndUnpack(input, image.manifest.layers, unpacker)
    return unpacked.kind === 'kernel'
      ? kernelImage(input, image.config, unpacked.hasInitrd)
      : containerImage(input, image.config)
  } finally {
    signal.removeEventListener('abort', end)
    unpacker.end()
  }
}

async function pullAndUnpack(
  input: MakeImageInput,
  descriptors: readonly Descriptor[],
  unpacker: Unpacker,
): Promise<Unpacked> {
  const { limits, sqfstar, signal } = input
  const work = join(input.directory, 'work')
  const pulledBytes = sizeOf(descriptors)
  await input.reserve(pulledBytes)
  await mkdir(work, { mode: 0o700 })
  await mkdir(join(work, blobsName))
  const layers = await pullLayers(input, descriptors, work)
  if (unpacker.owner !== undefined) await chown(work, unpacker.owner.uid, unpacker.owner.gid)
  signal.throwIfAborted()
  const unpacked = await unpacker.unpack(
    { directory: work, layers, limits, sqfstar },
    async (bytes) => await input.reserve(pulledBytes + bytes),
  )
  unpacker.end()
  for (const name of namesOf(unpacked)) await adopt(join(work, name), join(input.directory, name))
  await rm(work, { recursive: true })
  return unpacked
}

function namesOf(unpacked: Unpacked): readonly string[] {
  if (unpacked.kind === 'container') return [rootfsName]
  return unpacked.hasInitrd ? [kernelName, initrdName] : [kernelName]
}

/**
 * Moves a file that the process made. If somebody took over that process, something else may be under the
 * file's name, such as a link to a file of the host.
 */
async function adopt(from: string, to: string): Promise<void> {
  await rename(from, to)
  const file = await open(to, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    if (!found.isFile() || found.nlink !== 1) throw new Error('the unpacked file is not regular or has links')
    await file.chown(process.geteuid?.() ?? found.uid, process.getegid?.() ?? found.gid)
    await file.chmod(0o644)
  } finally {
    await file.close()
  }
}

/**
 * Pulls the layers. Their paths are relative to `work`, because the user that unpacks may not be able to go
 * through the directories above.
 */
async function pullLayers(
  input: MakeImageInput,
  layers: readonly Descriptor[],
  work: string,
): Promise<readonly LayerBlob[]> {
  const pulled = new Map<string, LayerBlob>()
  for (const layer of layers) {
    // Some build tools list the empty layer several times. It is pulled once.
    if (pulled.has(layer.digest)) continue
    const path = join(blobsName, String(pulled.size))
    await pipeline(
      input.client.blob(input.repository, layer, input.signal),
      createWriteStream(join(work, path), { flags: 'wx', mode: 0o644 }),
      { signal: input.signal },
    )
    pulled.set(layer.digest, { path, size: layer.size })
  }
  return layers.flatMap((layer) => pulled.get(layer.digest) ?? [])
}

function checkSizes(image: RegistryImage, limits: ImageLimits): void {
  const pulledBytes = sizeOf(image.manifest.layers)
  if (pulledBytes > limits.maxPulledBytes) {
    throw new ImageError(
      'ImageUnusable',
      `the layers of the image have ${pulledBytes} bytes, at most ${limits.maxPulledBytes} are allowed`,
    )
  }
  const { entrypoint, command, env, user, workingDirectory } = image.config
  const strings = [...entrypoint, ...command, ...env, user, workingDirectory]
  const bytes = strings.reduce((total, item) => total + Buffer.byteLength(item) + 1, 0)
  if (bytes > limits.maxProcessBytes) {
    throw new ImageError(
      'ImageUnusable',
      `command and environment of the image have ${bytes} bytes, at most ${limits.maxProcessBytes} are allowed`,
    )
  }
  if (strings.some((item) => item.includes('\0'))) {
    throw new ImageError('ImageUnusable', 'the command or the environment of the image holds a zero byte')
  }
}

function sizeOf(layers: readonly { readonly size: number }[]): number {
  return layers.reduce((total, layer) => total + layer.size, 0)
}

function containerImage(input: MakeImageInput, config: ImageConfig): PreparedImage {
  return {
    kind: 'container',
    digest: input.digest,
    rootfsPath: input.fileOf(rootfsName),
    entrypoint: config.entrypoint,
    command: config.command,
    env: config.env,
    workingDirectory: config.workingDirectory,
    user: config.user,
    labels: config.labels,
  }
}

function kernelImage(input: MakeImageInput, config: ImageConfig, hasInitrd: boolean): PreparedImage {
  return {
    kind: 'kernel',
    digest: input.digest,
    kernelPath: input.fileOf(kernelName),
    ...(hasInitrd ? { initrdPath: input.fileOf(initrdName) } : {}),
    kernelArgs: splitArgumentLine(config.labels[kernelArgsLabel] ?? ''),
    command: [...config.entrypoint, ...config.command],
    env: config.env,
    labels: config.labels,
  }
}
