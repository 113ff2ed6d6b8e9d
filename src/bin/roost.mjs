#!/usr/bin/env node
// `npx roost` runs on any Node of the machine (20 or newer). The program itself is TypeScript, which only
// Node 24 runs as it is, so this starts the Node 24 that set-up brought.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const program = fileURLToPath(new URL('roost.ts', import.meta.url))
const broughtNode = path.join(checkout, 'node_modules', '.bin', 'node')
const hasOwn = Number(process.versions.node.split('.')[0]) >= 24

// On a machine that is to become a host, set-up has not run yet. It takes no time where it has.
if (process.argv[2] === 'join' && process.argv.length >= 5) {
  const setup = path.join(checkout, 'setup', 'setup.mjs')
  const { status } = spawnSync(process.execPath, [setup, '--host'], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

if (!existsSync(broughtNode) && !hasOwn) {
  process.stderr.write(`roost: Node 24 is missing, run \`npm run setup\` in ${checkout}\n`)
  process.exit(1)
}
const node = existsSync(broughtNode) ? broughtNode : process.execPath
// Most of a short command's time goes into reading its TypeScript. Node keeps what it read, by its content.
const caches = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache')
const env = { NODE_COMPILE_CACHE: path.join(caches, 'roost', 'compiled'), ...process.env }
const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit', env })
// Ctrl-C at a terminal sends the signal to the child too. A signal that is sent to this process alone is
// passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  process.stderr.write(`roost: ${node} can not be run: ${error.message}\n`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
