import path from 'node:path'
import { rename, rm, mkdir } from 'node:fs/promises'
import { run, which } from './command.mjs'
import { aptGet, updateLists } from './debian-packages.mjs'
import { isRoot } from './paths.mjs'
import { versions } from './versions.mjs'

/**
 * Builds a Go program with `go install` into `directory`. If it is interrupted, there is no file with the
 * program's name.
 */
export async function goInstall({ module, binary, directory, say }) {
  const go = await findGo(say)
  const unfinished = path.join(directory, `.tmp-${binary}-${process.pid}`)
  await mkdir(unfinished, { recursive: true })
  try {
    say('go install: about 3 minutes')
    await run(go, ['install', module], {
      // The program is built without C, because a machine may have a compiler but no headers of the C
      // library.
      env: { GOBIN: unfinished, CGO_ENABLED: '0' },
      onLine: say,
    })
    await rename(path.join(unfinished, binary), path.join(directory, binary))
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return path.join(directory, binary)
}

/** The directory in which `go` keeps the sources of a module version that it has built. */
export async function goModuleDirectory(module) {
  const go = await findGo(() => {})
  const answer = await run(go, ['mod', 'download', '-json', module])
  return JSON.parse(answer).Dir
}

/**
 * Finds Go on the PATH or where go.dev's archive puts it, or installs Debian's package. Go itself fetches
 * the toolchain that a module asks for.
 */
async function findGo(say) {
  const known = async () => (await which('go')) ?? '/usr/local/go/bin/go'
  if (await isNewEnough(await known())) return known()
  if (isRoot) {
    await updateLists(say)
    await aptGet(['install', '-y', '--no-install-recommends', 'golang-go'], { onLine: say }).catch(() => {})
    if (await isNewEnough(await known())) return known()
  }
  throw new Error(`Go ${versions.go} or newer is not on the PATH (https://go.dev/dl)`)
}

async function isNewEnough(go) {
  const text = await run(go, ['version']).catch(() => '')
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(text) ?? []
  const [leastMajor, leastMinor] = versions.go.split('.')
  return (
    Number(major) > Number(leastMajor) ||
    (Number(major) === Number(leastMajor) && Number(minor) >= Number(leastMinor))
  )
}
