/**
 * Builds the official images as one OCI layout: `node samples/build.ts <empty directory>`. It needs musl-gcc
 * and a static busybox, which are Debian packages, but no network.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeOciLayout } from './oci-layout.ts'
import type { SampleFile, SampleImage } from './oci-layout.ts'

const run = promisify(execFile)
const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Makes an image with one static program. */
async function program(name: string, ports: readonly number[]): Promise<SampleImage> {
  const directory = await mkdtemp(join(tmpdir(), `roost-${name}-`))
  const binary = join(directory, name)
  const flags = ['-static', '-Os', '-Wall', '-Wextra', '-Werror', '-s', '-Wl,--build-id=none']
  try {
    await run('musl-gcc', [...flags, '-o', binary, join(import.meta.dirname, name, `${name}.c`)])
    return {
      name: `${name}:latest`,
      files: [{ path: name, content: await readFile(binary) }],
      config: {
        Cmd: [`/${name}`],
        ExposedPorts: Object.fromEntries(ports.map((port) => [`${port}/tcp`, {}])),
        Labels: { 'org.opencontainers.image.title': name, 'roost.memory_mb': '128' },
      },
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

const busyboxPath = '/bin/busybox'
const directories: readonly SampleFile[] = [
  ...['bin', 'sbin', 'usr', 'usr/bin', 'usr/sbin', 'etc', 'home', 'var', 'run'].map((name) => ({
    path: name,
  })),
  { path: 'root', mode: 0o700 },
  { path: 'tmp', mode: 0o1777 },
]
const accounts: readonly SampleFile[] = [
  text('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n'),
  text('etc/group', 'root:x:0:\nnogroup:x:65534:\n'),
]

function text(name: string, content: string): SampleFile {
  return { path: name, mode: 0o644, content: Buffer.from(content) }
}

async function busybox(): Promise<SampleImage> {
  const { stdout } = await run(busyboxPath, ['--list-full'])
  const applets = stdout.split('\n').filter((name) => name !== '' && `/${name}` !== busyboxPath)
  const known = new Set(directories.map((directory) => directory.path))
  return {
    name: 'busybox:latest',
    files: [
      ...directories,
      ...accounts,
      { path: 'bin/busybox', content: await readFile(busyboxPath) },
      ...applets
        .filter((name) => known.has(name.slice(0, name.lastIndexOf('/'))))
        .map((name) => ({ path: name, mode: 0o777, linkTarget: busyboxPath })),
    ],
    config: {
      // The image has no entrypoint, so the arguments of an instance are the whole command.
      Cmd: ['/bin/sleep', 'infinity'],
      Env: [path],
      WorkingDir: '/',
      Labels: { 'org.opencontainers.image.title': 'busybox' },
    },
  }
}

const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error('usage: node samples/build.ts <directory>')
await writeOciLayout(directory, [
  await program('hello', [8080]),
  await program('counter', [8080, 7000]),
  await program('busy', [8080]),
  await busybox(),
])
