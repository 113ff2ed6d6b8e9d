import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { debianPackages } from './debian-packages.mjs'
import { guest } from './guest.mjs'
import { kernel } from './kernel.mjs'
import { takeLock } from './lock.mjs'
import { Missing } from './missing.mjs'
import { installedMatchesLock, npmPackages } from './npm-packages.mjs'
import { cache, checkout, isRoot } from './places.mjs'
import { say, totalTime, underTitle } from './progress.mjs'
import { registry } from './registry.mjs'
import { sampleImages } from './sample-images.mjs'
import { currentStamp, isCurrent, readSetup, writeSetup } from './stamp.mjs'
import { temporalCli } from './temporal-cli.mjs'
import { temporalServer } from './temporal-server.mjs'
import { testServer } from './test-server.mjs'
import { workflowBundle } from './workflow-bundle.mjs'

/**
 * `node setup/setup.mjs [--tests | --parts]`: brings everything Roost needs, on plain Node 20 and without npm packages. Runs
 * as often as you like, also interrupted and also twice at once. Ends with 1 when something that is needed is missing.
 * `--parts` leaves out the services of the embedded stack, for an installation on real ones.
 */
const forParts = [npmPackages, debianPackages, kernel, guest, workflowBundle, sampleImages]
const forServices = [registry, temporalCli]
const forTests = [testServer, temporalServer]

async function main() {
  const tests = process.argv.includes('--tests')
  const parts = process.argv.includes('--parts')
  const wanted = {
    tests,
    parts,
    stamp: currentStamp({ cache, parts, cli: process.env.TEMPORAL_CLI_PATH ?? '', isRoot }),
  }
  if (isSetUp(wanted)) return say(`Set-up is complete (${totalTime()}).`)
  mkdirSync(cache, { recursive: true })
  const release = await takeLock(path.join(cache, 'setup.lock'), () =>
    say('Another set-up is running; waiting for it.'),
  )
  try {
    // Whoever was first may have done all of it.
    if (!isSetUp(wanted)) await bringAll(wanted)
  } finally {
    await release()
  }
}

function isSetUp(wanted) {
  return isCurrent(readSetup(), wanted) && installedMatchesLock()
}

async function bringAll({ tests, parts, stamp }) {
  say(`Setting up ${checkout}; what takes long is kept in ${cache}.`)
  const things = [...forParts, ...(parts ? [] : forServices), ...(tests ? forTests : [])]
  const done = { files: [], paths: {} }
  const missing = []
  for (const [index, thing] of things.entries()) {
    try {
      const brought = await underTitle(
        { number: index + 1, total: things.length, title: thing.title },
        (detail) => thing.bring({ tests, say: detail, found: done.paths }),
      )
      done.files.push(...(brought.files ?? []))
      Object.assign(done.paths, brought.paths)
    } catch (error) {
      missing.push(error instanceof Missing ? error : unexpected(thing, error))
    }
  }
  writeSetup({ stamp: missing.length === 0 ? stamp : 'incomplete', tests, ...done })
  conclude(missing)
}

function unexpected(thing, cause) {
  return new Missing({
    what: thing.title,
    why: 'set-up could not finish it',
    command: 'npm run setup',
    cause,
  })
}

function conclude(missing) {
  if (missing.length === 0) return say(`Set-up is complete (${totalTime()}).`)
  for (const one of missing) {
    say(`\nMissing: ${one.what}\n  why:  ${one.why}\n  get it: ${one.command}`)
    if (one.cause) say(`  because: ${String(one.cause.message).replaceAll('\n', '\n    ')}`)
  }
  process.exitCode = 1
}

await main()
