import path from 'node:path'
import { rename, rm, mkdir } from 'node:fs/promises'
import { run, which } from './command.mjs'
import { versions } from './versions.mjs'

/** Builds a Go program with `go install` into `directory`. Interrupted, it leaves nothing under the program's name. */
export async function goInstall({ module, binary, directory, say }) {
  const go = (await which('go')) ?? '/usr/local/go/bin/go'
  await run(go, ['version']).catch((cause) => {
    throw new Error(`Go ${versions.go} or newer is not on the PATH (https://go.dev/dl)`, { cause })
  })
  const unfinished = path.join(directory, `.tmp-${binary}-${process.pid}`)
  await mkdir(unfinished, { recursive: true })
  try {
    say('go install: about 3 minutes')
    await run(go, ['install', module], {
      env: { GOBIN: unfinished },
      onLine: say,
    })
    await rename(path.join(unfinished, binary), path.join(directory, binary))
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return path.join(directory, binary)
}

/** Where `go` keeps the sources of a module version that it has just built. */
export async function goModuleDirectory(module) {
  const go = (await which('go')) ?? '/usr/local/go/bin/go'
  const answer = await run(go, ['mod', 'download', '-json', module])
  return JSON.parse(answer).Dir
}
