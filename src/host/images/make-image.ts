import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { splitArgumentLine } from '../../domain/argument-line.ts'
import { kernelArgsLabel } from '../../domain/image-labels.ts'
import type { Descriptor, ImageConfig } from '../../registry/oci-manifest.ts'
import type { RegistryClient, RegistryImage } from '../../registry/registry-client.ts'
import type { ImageLimits } from './image-limits.ts'
import { ImageError } from './images.ts'
import type { PreparedImage } from './images.ts'
import { checkKernel, extractFile, kernelInodes } from './kernel-files.ts'
import type { LayerBlob } from './layer-content.ts'
import { mergeLayers, mergedArchive } from './merge-layers.ts'
import { mergedEntries } from './merged-entries.ts'
import { writeSquashfs } from './squashfs.ts'

export interface MakeImageInput {
  readonly repository: string
  readonly digest: string
  /** An empty directory for the files and everything in between. */
  readonly directory: string
  /** Where a file of that directory will be found later. */
  readonly fileOf: (name: string) => string
  readonly client: RegistryClient
  readonly limits: ImageLimits
  readonly sqfstar: string
  readonly signal: AbortSignal
}

const rootfsName = 'rootfs.squashfs'
const kernelName = 'kernel'
const initrdName = 'initrd'

/** Pulls an image and makes the files that a VM needs of it. Throws ImageError, RegistryError, LayerError, ... */
export async function makeImage(input: MakeImageInput): Promise<PreparedImage> {
  const { client, limits, signal, directory } = input
  const image = await client.image(input.repository, input.digest, signal)
  checkSizes(image, limits)
  const blobs = join(directory, 'blobs')
  await mkdir(blobs)
  const layers = await pullLayers(input, image.manifest.layers, blobs)
  const root = await mergeLayers(layers, { limits, signal })
  const own = kernelInodes(root, limits)
  if (own) {
    await extractFile(own.kernel, join(directory, kernelName), { layers, limits, signal })
    await checkKernel(join(directory, kernelName))
    if (own.initrd) await extractFile(own.initrd, join(directory, initrdName), { layers, limits, signal })
  } else {
    const merged = mergedEntries(root, { layers: layers.length, maxPathsBytes: limits.maxMetadataBytes })
    const target = { path: join(directory, rootfsName), root: root.inode.entry }
    await writeSquashfs(mergedArchive(merged, layers, limits), target, { command: input.sqfstar, signal })
  }
  await rm(blobs, { recursive: true })
  return own
    ? kernelImage(input, image.config, own.initrd !== undefined)
    : containerImage(input, image.config)
}

async function pullLayers(
  input: MakeImageInput,
  layers: readonly Descriptor[],
  directory: string,
): Promise<readonly LayerBlob[]> {
  const pulled = new Map<string, LayerBlob>()
  for (const layer of layers) {
    // Tools repeat the empty layer.
    if (pulled.has(layer.digest)) continue
    const path = join(directory, String(pulled.size))
    await pipeline(
      input.client.blob(input.repository, layer, input.signal),
      createWriteStream(path, { flags: 'wx', mode: 0o600 }),
      { signal: input.signal },
    )
    pulled.set(layer.digest, { path, size: layer.size })
  }
  return layers.flatMap((layer) => pulled.get(layer.digest) ?? [])
}

function checkSizes(image: RegistryImage, limits: ImageLimits): void {
  const pulledBytes = image.manifest.layers.reduce((total, layer) => total + layer.size, 0)
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
