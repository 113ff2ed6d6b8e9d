/**
 * Builds what runs below the application: the kernel in the form that boots fastest, the initrd with our
 * init and the drivers, the keeper and the watch over sleepers. It needs only Node 20 and musl-gcc and no
 * packages, so that set-up can run it first.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile, chmod } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { packCpio } from './cpio.mjs'
import { extractKernel, stripModuleSignature } from './kernel-image.mjs'

const run = promisify(execFile)
const sourceDirectory = path.dirname(fileURLToPath(import.meta.url))

/** The version of the build. It is raised when the result changes for the same sources. */
const buildVersion = 2

/**
 * The modules that the guest loads at once, in load order. It loads the next list when it has become an
 * instance.
 */
const modulesBefore = [
  'virtio_ring',
  'virtio',
  'virtio_mmio',
  'virtio_console',
  'pvpanic',
  'pvpanic-mmio',
  'squashfs',
  'fuse',
  'overlay',
]
const modulesAfter = ['failover', 'net_failover', 'virtio_net', 'virtio_blk']

/**
 * Makes `vmlinux`, `initrd.cpio`, `keeper`, `peer-watch`, `kvm-probe` and `manifest.json` in
 * `outputDirectory`. `kernelPackageDirectory` holds an unpacked Debian kernel package (`boot/`,
 * `lib/modules/`). A repeat with the same sources builds nothing.
 */
export async function buildGuest({ kernelPackageDirectory, outputDirectory }) {
  const kernelPath = await findKernel(kernelPackageDirectory)
  const inputs = await hashInputs(kernelPath)
  const manifestPath = path.join(outputDirectory, 'manifest.json')
  const present = await readManifest(manifestPath)
  if (present?.inputs === inputs && (await isIntact(outputDirectory, present))) return present

  await mkdir(outputDirectory, { recursive: true })
  const work = await mkdtemp(path.join(outputDirectory, '.build-'))
  try {
    await compile('keeper', path.join(work, 'keeper'))
    await compile('peer-watch', path.join(work, 'peer-watch'))
    await compile('init', path.join(work, 'init'))
    await compileProbe(path.join(work, 'kvm-probe'))
    await writeFile(path.join(work, 'vmlinux'), extractKernel(await readFile(kernelPath)))
    await writeFile(path.join(work, 'initrd.cpio'), await packInitrd(work, kernelPackageDirectory))
    const manifest = await describe(work, inputs, path.basename(kernelPath).replace('vmlinuz-', ''))
    for (const name of Object.keys(manifest.files))
      await rename(path.join(work, name), path.join(outputDirectory, name))
    await writeFile(path.join(work, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
    await rename(path.join(work, 'manifest.json'), manifestPath)
    return manifest
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function findKernel(directory) {
  const names = (await readdir(path.join(directory, 'boot')))
    .filter((name) => name.startsWith('vmlinuz-'))
    .sort()
  if (names.length === 0) throw new Error(`no boot/vmlinuz-* in ${directory}`)
  return path.join(directory, 'boot', names.at(-1))
}

async function hashInputs(kernelPath) {
  const hash = createHash('sha256').update(`${buildVersion}\n${path.basename(kernelPath)}\n`)
  const sources = ['build.mjs', 'kernel-image.mjs', 'cpio.mjs']
  for (const part of ['init', 'keeper', 'peer-watch', 'probe']) {
    for (const name of (await readdir(path.join(sourceDirectory, part))).sort())
      sources.push(path.join(part, name))
  }
  for (const source of sources)
    hash.update(`${source}\n`).update(await readFile(path.join(sourceDirectory, source)))
  return hash.update(await readFile(kernelPath)).digest('hex')
}

async function compile(part, output) {
  const directory = path.join(sourceDirectory, part)
  const sources = (await readdir(directory)).filter((name) => name.endsWith('.c')).sort()
  const flags = ['-std=c11', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-s']
  await run('musl-gcc', [...flags, '-o', output, ...sources.map((name) => path.join(directory, name))])
}

/** Compiles the probe, a program for bare hardware without a C library, which QEMU loads as a kernel. */
async function compileProbe(output) {
  const directory = path.join(sourceDirectory, 'probe')
  const flags = ['-nostdlib', '-static', '-no-pie', '-Wl,--build-id=none', '-Wl,-z,noexecstack']
  await run('musl-gcc', [
    ...flags,
    '-T',
    path.join(directory, 'probe.ld'),
    '-o',
    output,
    path.join(directory, 'probe.S'),
  ])
}

async function packInitrd(work, kernelPackageDirectory) {
  const modulesRoot = path.join(kernelPackageDirectory, 'lib', 'modules')
  const files = await readdir(modulesRoot, { recursive: true })
  const modules = []
  for (const name of [...modulesBefore, ...modulesAfter]) {
    const file = files.find((candidate) => path.basename(candidate) === `${name}.ko`)
    if (file === undefined) throw new Error(`no module ${name}.ko below ${modulesRoot}`)
    const data = stripModuleSignature(await readFile(path.join(modulesRoot, file)))
    modules.push({ name: `modules/${name}.ko`, mode: 0o100644, data })
  }
  return packCpio([
    { name: 'dev', mode: 0o40755 },
    { name: 'dev/console', mode: 0o20600, major: 5, minor: 1 },
    { name: 'modules', mode: 0o40755 },
    { name: 'modules/before', mode: 0o100644, data: Buffer.from(`${modulesBefore.join('\n')}\n`) },
    { name: 'modules/after', mode: 0o100644, data: Buffer.from(`${modulesAfter.join('\n')}\n`) },
    ...modules,
    { name: 'init', mode: 0o100755, data: await readFile(path.join(work, 'init')) },
  ])
}

const outputs = {
  vmlinux: 0o644,
  'initrd.cpio': 0o644,
  keeper: 0o755,
  'peer-watch': 0o755,
  'kvm-probe': 0o644,
}

async function describe(work, inputs, kernelRelease) {
  const files = {}
  for (const [name, mode] of Object.entries(outputs)) {
    await chmod(path.join(work, name), mode)
    files[name] = createHash('sha256')
      .update(await readFile(path.join(work, name)))
      .digest('hex')
  }
  return { buildVersion, inputs, kernelRelease, files }
}

async function readManifest(manifestPath) {
  try {
    return JSON.parse(await readFile(manifestPath, 'utf8'))
  } catch {
    return undefined
  }
}

async function isIntact(directory, manifest) {
  const names = new Set(await readdir(directory))
  return Object.keys(manifest.files).every((name) => names.has(name))
}
