import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import process from 'node:process'
import type { Machine } from './host-machines.ts'
import { commandLineOf, familyOf, signalAll } from './processes.ts'
import { outcomeOf } from './program-outcome.ts'
import type { ProgramOutcome } from './program-outcome.ts'
import { until } from './until.ts'

const program = '/lib/systemd/systemd'
const limitMs = 30_000
const commandLimitMs = 240_000

const controlGroups = '/sys/fs/cgroup'
/** The hierarchies of control groups that systemd and an agent use. Newer machines have one for all. */
const hierarchies = existsSync(path.join(controlGroups, 'cgroup.procs'))
  ? [controlGroups]
  : ['systemd', 'unified', 'memory', 'cpu', 'pids']
      .map((name) => path.join(controlGroups, name))
      .filter((directory) => existsSync(directory))

/** Enters control groups of the machine's own, and then runs the command. Arguments: the groups, `--`. */
const entered = `
set -e
while [ "$1" != -- ]; do
  mkdir "$1"
  echo $$ > "$1/cgroup.procs"
  shift
done
shift
exec "$@"
`

/**
 * A script that runs as process 1 of the machine, and becomes systemd. It has a network, processes and mounts
 * of its own. It hides the units and the control groups of the real machine, and the settings that systemd
 * would change for the whole kernel. Arguments: the log of the services, and the control groups.
 */
const prepared = `
set -e
log=$1
shift
mount -t proc proc /proc
mount --bind /proc/sys/fs /proc/sys/fs
mount -o remount,bind,ro /proc/sys/fs
mount -t tmpfs tmpfs /run
mkdir /run/units /run/generators /run/groups
mount -t tmpfs tmpfs /run/groups
for group in "$@"; do
  place=$(basename "$(dirname "$group")")
  mkdir "/run/groups/$place"
  mount --bind "$group" "/run/groups/$place"
done
if [ -e ${controlGroups}/cgroup.procs ]; then
  mount --bind "$1" ${controlGroups}
else
  mount --rbind /run/groups ${controlGroups}
fi
if [ -e /etc/machine-id ]; then
  cp /etc/machine-id /run/machine-id
  mount --bind /run/machine-id /etc/machine-id
fi
mount --bind /run/units /lib/systemd/system
mount --bind /run/generators /lib/systemd/system-generators
mount -t tmpfs tmpfs /etc/systemd
mkdir -p /etc/systemd/system/service.d
printf '[Service]\\nStandardOutput=append:%s\\n' "$log" > /etc/systemd/system/service.d/log.conf
for target in sysinit basic shutdown network-online umount final; do
  printf '[Unit]\\nDefaultDependencies=no\\n' > /lib/systemd/system/$target.target
done
printf '[Unit]\\nRequires=basic.target\\nAfter=basic.target\\n' > /lib/systemd/system/multi-user.target
ln -s multi-user.target /lib/systemd/system/default.target
exec env -i container=roost-test "PATH=$PATH" ${program} --system --show-status=no --log-target=null
`

/** systemd as the first process of a machine of a test run. It has processes, mounts and units of its own. */
export class Systemd {
  readonly #child: ChildProcess
  readonly #pid: number
  readonly #groups: readonly string[]
  readonly #log: string

  private constructor({ namespace, dataDir }: Machine, child: ChildProcess, pid: number) {
    this.#child = child
    this.#pid = pid
    this.#groups = groupsOf(namespace)
    this.#log = logOf(dataDir)
  }

  static isInstalled(): boolean {
    return existsSync(program)
  }

  static async start(machine: Machine): Promise<Systemd> {
    const { namespace, dataDir } = machine
    const groups = groupsOf(namespace)
    const apart = 'unshare --pid --fork --kill-child --mount --cgroup --ipc --uts --propagation private'
    const first = [...apart.split(' '), 'sh', '-c', prepared, 'systemd', logOf(dataDir), ...groups]
    const command = ['sh', '-c', entered, 'groups', ...groups, '--', ...first]
    const child = spawn('nsenter', [`--net=/run/netns/${namespace}`, '--', ...command], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const isSystemd = (pid: number) => commandLineOf(pid).startsWith(program)
    const pid = await until('systemd begins', () => familyOf(child.pid!).find(isSystemd), { limitMs }).catch(
      (cause: unknown) => {
        child.kill('SIGKILL')
        throw new Error(`systemd did not begin: ${said}`, { cause })
      },
    )
    const systemd = new Systemd(machine, child, pid)
    const isReady = async () => (await systemd.run('systemctl', ['is-system-running'])).text === 'running\n'
    await until('systemd is ready', isReady, { limitMs }).catch(async (cause: unknown) => {
      await systemd.remove()
      throw new Error(`systemd did not start: ${said}`, { cause })
    })
    return systemd
  }

  /** Runs a program in all namespaces of the machine, but not in its control groups. */
  async run(
    command: string,
    args: readonly string[],
    settings: Readonly<Record<string, string>> = {},
  ): Promise<ProgramOutcome> {
    const inside = ['--target', String(this.#pid), '--pid', '--mount', '--net', '--ipc', '--uts']
    const options = { timeout: commandLimitMs, env: { ...process.env, ...settings } }
    return await outcomeOf('nsenter', [...inside, '--', command, ...args], options)
  }

  /** What the services printed. */
  output(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : ''
  }

  /** What systemd says of a service. */
  async show(service: string, property: string): Promise<string> {
    return (await this.run('systemctl', ['show', '--value', `--property=${property}`, service])).text.trim()
  }

  /** Ends the machine's processes, all of them, and removes their control groups. */
  async remove(): Promise<void> {
    const ended = once(this.#child, 'exit')
    const { exitCode, signalCode } = this.#child
    if (exitCode === null && signalCode === null) {
      signalAll([this.#pid], 'SIGKILL')
      await ended
    }
    rmSync(this.#log, { force: true })
    await until('its control groups are gone', () => this.#groups.every(isRemoved), { limitMs })
  }
}

/** Removes a control group with those below it. Returns false if a process is still there. */
function isRemoved(group: string): boolean {
  if (!existsSync(group)) return true
  spawnSync('find', [group, '-ignore_readdir_race', '-depth', '-type', 'd', '-delete'])
  return !existsSync(group)
}

function groupsOf(namespace: string): readonly string[] {
  return hierarchies.map((directory) => path.join(directory, namespace))
}

function logOf(dataDir: string): string {
  return `${dataDir}.services.log`
}
