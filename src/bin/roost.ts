import { spawn } from 'node:child_process'
import { once } from 'node:events'
import os from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { readBounded } from '../cli/bounded-input.ts'
import { CliFailure } from '../cli/cli-failure.ts'
import { CommandFailure } from '../commands/command-failure.ts'
import { openTerminal, readHidden } from '../commands/terminal-input.ts'
import { runCommand } from '../commands/program.ts'
import { isOperatorsCommand } from '../commands/operators-commands.ts'

const maxSecretBytes = 10_000
/** Signals in this time are the same one. Nobody presses Ctrl-C twice so quickly. */
const oneSignalMs = 150

/** The `roost` command. What operators' commands need is much, so it is loaded for them alone. */
async function main(args: readonly string[]): Promise<number> {
  if (isOperatorsCommand(args[0])) {
    const { runAdmin } = await import('./roost-admin.ts')
    return await runAdmin(args[0] === 'admin' ? args.slice(1) : args)
  }
  if (args[0] === 'join') {
    const { runJoin } = await import('./join.ts')
    return await runJoin(args.slice(1))
  }
  if (args[0] === 'upgrade') {
    const { runUpgrade } = await import('./upgrade.ts')
    return await runUpgrade(args.slice(1))
  }
  return await runCommand(args, {
    write: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(text),
    columns: columns(),
    showsProgress: process.stderr.isTTY && process.env['TERM'] !== 'dumb',
    terminal: openTerminal(),
    readSecret: (prompt) => (process.stdin.isTTY ? readHidden(prompt) : readFile('-', maxSecretBytes)),
    readFile,
    openBrowser,
    trust: (pem) => setDefaultCACertificates([...getCACertificates('default'), pem]),
    ...listenToSignals(),
    environment: process.env,
    configFile: path.join(
      process.env['XDG_CONFIG_HOME'] || path.join(os.homedir(), '.config'),
      'roost',
      'config.json',
    ),
    dataDir: path.resolve(process.env['ROOST_DATA_DIR'] || path.join(import.meta.dirname, '../..', '.roost')),
  })
}

/**
 * The first signal asks the command to end, and the next one ends it. Ctrl-C comes twice, from the terminal
 * and from `roost.mjs`, which can not know that the terminal has sent it.
 */
function listenToSignals() {
  const interrupted = new AbortController()
  const ending = new AbortController()
  let firstAtMs: number | undefined
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      const nowMs = performance.now()
      if (nowMs - (firstAtMs ?? nowMs) > oneSignalMs) process.exit(1)
      firstAtMs ??= nowMs
      if (name !== 'SIGINT') ending.abort()
      interrupted.abort()
    })
  }
  return { signal: interrupted.signal, ending: ending.signal }
}

/** Reads as operators' commands do, and fails as those of users do. */
async function readFile(file: string, maxBytes: number): Promise<string> {
  return await readBounded(file, maxBytes).catch((cause: unknown) => {
    throw cause instanceof CliFailure ? new CommandFailure(cause.message, { cause }) : cause
  })
}

/** The width of the terminal. COLUMNS counts where there is none. */
function columns(): number | undefined {
  const given = Number(process.env['COLUMNS'])
  return process.stdout.columns ?? (Number.isInteger(given) && given > 0 ? given : undefined)
}

async function openBrowser(url: string): Promise<boolean> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const browser = spawn(program, [url], { stdio: 'ignore', detached: true })
  return await Promise.race([
    once(browser, 'spawn').then(() => (browser.unref(), true)),
    once(browser, 'error').then(() => false),
  ]).catch(() => false)
}

// A reader such as `head` may end before everything is written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
// A terminal that was closed takes no message either.
process.stderr.on('error', () => process.exit(1))
process.exitCode = await main(process.argv.slice(2))
