import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { replaceFile } from '../../primitives/replace-file.ts'
import { PlatformEnd, signalOf } from '../end-signals.ts'

export const serviceName = 'roost-host.service'
const settingsFileName = 'host.env'
const commandLimitMs = 60_000
/** How long the parts and their VMs may take to end. */
const stopLimitS = 90

/** systemd could not be told. The message says what to do. */
export class HostServiceFailure extends Error {
  override readonly name = 'HostServiceFailure'
}

/** The places of systemd. Tests have files of their own. */
export interface SystemdPlaces {
  /** It exists where systemd runs the machine. */
  readonly running: string
  readonly units: string
}

const systemd: SystemdPlaces = { running: '/run/systemd/system', units: '/etc/systemd/system' }

export interface HostService {
  readonly checkout: string
  readonly dataDir: string
  /** The program that runs TypeScript. */
  readonly node: string
  /** The settings that the host has. It gets nothing else of what this process has. */
  readonly settings: ReadonlyMap<string, string>
}

/** Throws `HostServiceFailure` where systemd does not run. It is asked before a machine joins. */
export function requireSystemd({ running }: SystemdPlaces = systemd): void {
  if (existsSync(running)) return
  throw new HostServiceFailure(
    `--service needs systemd, which does not run this machine (there is no ${running}): leave the option out, and let the machine's ` +
      'own service manager run `npx roost join` in this directory',
  )
}

/**
 * Makes systemd run this machine's host, now and after each start of the machine. The settings that this
 * process has are kept for it in a file that only root can read.
 */
export async function installHostService(
  service: HostService,
  places: SystemdPlaces = systemd,
): Promise<void> {
  requireSystemd(places)
  const settingsFile = path.join(service.dataDir, settingsFileName)
  await replaceFile(settingsFile, settingsText(service.settings), { mode: 0o600 })
  await mkdir(places.units, { recursive: true })
  await replaceFile(path.join(places.units, serviceName), unitText(service, settingsFile), { mode: 0o644 })
  await systemctl('daemon-reload')
  await systemctl('enable', serviceName)
  // A service that runs already takes its new settings.
  await systemctl('restart', serviceName)
}

/**
 * Has the service of this data directory start another version from now on. What runs goes on: a version
 * calls it that took over. Where the host is no service, it does nothing.
 */
export async function moveHostService(
  { dataDir, ...version }: Pick<HostService, 'checkout' | 'node' | 'dataDir'>,
  places: SystemdPlaces = systemd,
): Promise<void> {
  const file = path.join(places.units, serviceName)
  const settingsFile = path.join(dataDir, settingsFileName)
  const before = await readFile(file, 'utf8').catch(() => '')
  if (!before.includes(`EnvironmentFile=${escaped(settingsFile)}\n`)) return
  await replaceFile(file, unitText(version, settingsFile), { mode: 0o644 })
  await systemctl('daemon-reload')
}

/**
 * The unit. Its stop, which is also what comes when the machine shuts down, ends the host as Ctrl-C does.
 * Its restart leaves the VMs running, and so does the death of its process; the next one takes them over.
 * For that, systemd signals the main process alone. A systemd before version 244 does not know
 * `RestartKillSignal`, and ends the VMs at a restart too.
 */
export function unitText(
  { checkout, node }: Pick<HostService, 'checkout' | 'node'>,
  settingsFile: string,
): string {
  const program = path.join(checkout, 'src/bin/roost.ts')
  return `[Unit]
Description=Roost host
Documentation=file://${encodeURI(path.join(checkout, 'docs/hosts.md'))}
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
WorkingDirectory=${escaped(checkout)}
EnvironmentFile=${escaped(settingsFile)}
ExecStart=${quoted(node)} ${quoted(program)} join
Restart=on-failure
RestartSec=5
KillMode=process
KillSignal=${signalOf[PlatformEnd.EndVms]}
RestartKillSignal=${signalOf[PlatformEnd.KeepVms]}
TimeoutStopSec=${stopLimitS}
Delegate=yes
TasksMax=infinity
LimitNOFILE=1048576

[Install]
WantedBy=multi-user.target
`
}

/** The settings as lines of an environment file. */
function settingsText(settings: HostService['settings']): string {
  return [...settings].map(([name, value]) => `${name}=${quotedValue(name, value)}\n`).join('')
}

function quotedValue(name: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new HostServiceFailure(`${name} has more than one line: write it in one`)
  return `"${value.replaceAll(/["\\$`]/g, String.raw`\$&`)}"`
}

/** In units, systemd replaces what begins with a percent sign. */
function escaped(text: string): string {
  return text.replaceAll('%', '%%')
}

function quoted(text: string): string {
  return `"${escaped(text)
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll('$', '$$$$')}"`
}

async function systemctl(...args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)('systemctl', [...args], { timeout: commandLimitMs })
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string }
    const why = stderr.trim() === '' ? message : stderr.trim()
    throw new HostServiceFailure(
      `systemctl ${args.join(' ')} failed (${why}): \`journalctl -u ${serviceName}\` says more`,
    )
  }
}
