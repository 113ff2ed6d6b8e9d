import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { absentPackages, isDebianPackage, packagePaths } from './debian-packages.mjs'
import { takeLock } from './lock.mjs'
import { Missing } from './missing.mjs'
import { needsOf } from './needs.mjs'
import { installedMatchesLock } from './npm-packages.mjs'
import { cache, checkout, isRoot } from './paths.mjs'
import { say, totalTime, underTitle } from './progress.mjs'
import { broughtThings, currentStamp, writeSetup } from './stamp.mjs'
import { things } from './things.mjs'

/**
 * `node setup/setup.mjs [--parts | --host | --control | --tests | --bench [section ...]]`: gets everything
 * that Roost needs for its parts, a further host (with an API or a worker), the tests or the benchmark, and
 * without an argument for the embedded stack (`needs.mjs`). It runs on plain Node 20 without npm packages. It
 * can be repeated, interrupted, and run twice at once. The exit code is 1 if something that is needed is
 * missing.
 */

async function main(needs) {
  const stamp = currentStamp({ cache, cli: process.env.TEMPORAL_CLI_PATH ?? '', isRoot })
  if (isSetUp(needs, stamp)) return say(`Set-up is complete (${totalTime()}).`)
  mkdirSync(cache, { recursive: true })
  const release = await takeLock(path.join(cache, 'setup.lock'), () =>
    say('Another set-up is running; waiting for it.'),
  )
  try {
    // Another set-up, which held the lock before, may have done all of the work.
    if (!isSetUp(needs, stamp)) await bringAll(needs, stamp)
  } finally {
    await release()
  }
}

function isSetUp(needs, stamp) {
  const brought = broughtThings(stamp)
  return (
    absentPackages(needs).length === 0 &&
    needs.every((need) => isDebianPackage(need) || brought[need] !== undefined) &&
    installedMatchesLock()
  )
}

async function bringAll(needs, stamp) {
  say(`Setting up ${checkout}; what takes long is kept in ${cache}.`)
  const wanted = Object.entries(things).filter(
    ([name]) => needs.includes(name) || (name === 'debianPackages' && needs.some(isDebianPackage)),
  )
  // The things that earlier set-ups of this checkout got stay in the list.
  const brought = broughtThings(stamp)
  const missing = []
  for (const [index, [name, thing]] of wanted.entries()) {
    delete brought[name]
    try {
      const { files = [], paths = {} } = await underTitle(
        { number: index + 1, total: wanted.length, title: thing.title },
        (detail) => thing.bring({ needs, say: detail, found: pathsOf(brought) }),
      )
      brought[name] = { files, paths }
    } catch (error) {
      missing.push(error instanceof Missing ? error : unexpected(thing, error))
    }
  }
  writeSetup({ stamp, things: brought, paths: pathsOf(brought) })
  conclude(missing)
}

/** The paths of all things so far. */
function pathsOf(brought) {
  return Object.assign(packagePaths(), ...Object.values(brought).map(({ paths }) => paths))
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

/** The needs for the command's arguments, or undefined if the arguments are wrong. */
function asked() {
  try {
    return needsOf(process.argv.slice(2), process.env)
  } catch (error) {
    say(error.message)
    process.exitCode = 1
    return undefined
  }
}

const needs = asked()
if (needs !== undefined) await main(needs)
