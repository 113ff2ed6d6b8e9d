import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { exists, run, which } from './command.mjs'
import { fetchChecked } from './checked-download.mjs'
import { goInstall } from './go-tool.mjs'
import { Missing } from './missing.mjs'
import { cache } from './paths.mjs'
import { versions } from './versions.mjs'

const directory = path.join(cache, `temporal-cli-${versions.temporalCli}`)
const cached = path.join(directory, 'temporal')
const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch] ?? process.arch
const archive = `https://temporal.download/cli/archive/v${versions.temporalCli}?platform=linux&arch=${architecture}`
/**
 * The Temporal CLI, which contains the dev server and its Web UI. It comes from TEMPORAL_CLI_PATH, the PATH
 * or the cache; the first that works is taken.
 */
export const temporalCli = {
  title: 'Temporal CLI',
  async bring({ say }) {
    return { paths: { temporalCli: (await given()) ?? (await onPath()) ?? (await inCache(say)) } }
  },
}

async function given() {
  const file = process.env.TEMPORAL_CLI_PATH
  if (!file) return undefined
  if ((await serverVersion(file)) === undefined) {
    throw new Missing({
      what: `${file} (TEMPORAL_CLI_PATH)`,
      why: 'it has to be the Temporal CLI, which holds the dev server',
      command: 'unset TEMPORAL_CLI_PATH, or name the program `temporal` that is in the unpacked archive',
    })
  }
  return path.resolve(file)
}

async function onPath() {
  const file = await which('temporal')
  return file && (await serverVersion(file)) === versions.temporalCliServer ? file : undefined
}

async function inCache(say) {
  if (await exists(cached)) return cached
  await mkdir(directory, { recursive: true })
  let failure
  try {
    return await download(say)
  } catch (error) {
    failure = `${new URL(archive).host}: ${error.cause?.message ?? error.message}`
    say(`${failure}; building it instead`)
  }
  return goInstall({
    module: `github.com/temporalio/cli/cmd/temporal@v${versions.temporalCli}`,
    binary: 'temporal',
    directory,
    say,
  }).catch((error) => {
    throw new Missing({
      what: `the Temporal CLI ${versions.temporalCli}`,
      why: 'it is the workflow engine of the embedded stack',
      command:
        `put Go ${versions.go} or newer on the PATH and run this again; or download ${archive}, unpack it ` +
        'and set TEMPORAL_CLI_PATH to the program `temporal` that is in it',
      cause: new Error(`${failure}; ${error.message}`, { cause: error }),
    })
  })
}

async function download(say) {
  const unfinished = path.join(directory, `.tmp-download-${process.pid}`)
  await mkdir(unfinished, { recursive: true })
  try {
    say(`downloading from ${new URL(archive).host}`)
    const file = path.join(unfinished, 'archive.tar.gz')
    await writeFile(file, await fetchChecked(archive, versions.temporalCliArchives[architecture]))
    await run('tar', ['-xzf', file, '-C', unfinished, 'temporal'])
    const binary = path.join(unfinished, 'temporal')
    await chmod(binary, 0o755)
    const server = await serverVersion(binary)
    if (server !== versions.temporalCliServer) throw new Error(`the download reports server ${server}`)
    await rename(binary, cached)
    return cached
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/**
 * The server's version from `temporal --version`, such as 1.29.1; undefined if the file is not that program.
 */
async function serverVersion(file) {
  const text = await run(file, ['--version'], { timeoutMs: 10_000 }).catch(() => '')
  return /Server (\d+\.\d+\.\d+)/.exec(text)?.[1]
}
