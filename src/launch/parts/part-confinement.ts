import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { UserIds } from './part-users.ts'

/** The user and the rights of a part that runs as a user of its own. */
export interface Confinement {
  readonly user: UserIds
  /** Groups besides the user's own whose files the part may read. */
  readonly groups: readonly number[]
  /** Names of capabilities, as setpriv(1) knows them. */
  readonly capabilities: readonly string[]
  readonly view?: View
}

/**
 * A part's view of the file system. `closed` are directories that the part's user may not enter, such as
 * /root. `kept` are the places below them that the part needs. The part sees its program and its files at
 * their usual paths, and nothing else in the closed directories.
 */
export interface View {
  readonly closed: readonly string[]
  readonly kept: readonly string[]
}

/** A part's user can not reach the part's own program. */
export class UnreachableProgram extends Error {
  override readonly name = 'UnreachableProgram'
}

const setpriv = '/usr/bin/setpriv'
const run = promisify(execFile)

/** Whether parts can run as other users. Without root, no process can become another user. */
export function canConfine(): boolean {
  return process.getuid?.() === 0 && existsSync(setpriv)
}

export interface WantedConfinement {
  readonly user: UserIds
  readonly groups?: readonly number[]
  readonly capabilities?: readonly string[]
  readonly program: string
  /** Directories that belong to the program and that everybody may read. */
  readonly reads: readonly string[]
  /** Directories and files that belong to the user. */
  readonly own: readonly string[]
}

/**
 * Returns a confinement in which the user reaches the program and what the program needs. If views can not
 * be made (in a container without CAP_SYS_ADMIN), the part may read every file instead. If even that is
 * impossible, it throws `UnreachableProgram`.
 */
export async function confine(wanted: WantedConfinement): Promise<Confinement> {
  const { user, groups = [], capabilities = [], program } = wanted
  const reads = outermost([...wanted.reads, path.dirname(program)])
  const kept = outermost([...reads, ...wanted.own])
  const closed = outermost(kept.flatMap(closedAbove))
  const hidden = [...reads, ...wayBelow(reads, program)].find((place) => !isOpen(place))
  if (hidden === undefined && closed.length === 0) return { user, groups, capabilities }
  if (hidden === undefined && (await canMakeViews())) {
    const view = { closed, kept: kept.filter((one) => closed.some((above) => isWithin(one, above))) }
    return { user, groups, capabilities, view }
  }
  if (hasReadSearch()) return { user, groups, capabilities: [...capabilities, 'dac_read_search'] }
  throw new UnreachableProgram(
    `${program} can not be run as another user than root, because ${hidden ?? closed[0]} is closed to others and this ` +
      'container may not change what a process sees; put the checkout where every user may pass',
  )
}

/**
 * The words that are put before a program's own command line. They make the view, and then `setpriv` drops
 * the supervisor's rights. The view comes first, because making it needs those rights.
 */
export function confinedCommand(
  confinement: Confinement | undefined,
  options: readonly string[],
): readonly string[] {
  if (!existsSync(setpriv)) return []
  if (confinement === undefined) return [setpriv, ...options, '--']
  const { view } = confinement
  const inView = view === undefined ? [] : viewCommand(view)
  return [...inView, setpriv, ...privilegesOf(confinement), ...options, '--']
}

/**
 * The options of setpriv. With `no_setuid_fixup` a capability counts in access() too; PostgreSQL looks for
 * its own programs with access().
 */
function privilegesOf({ user, groups, capabilities }: Confinement): readonly string[] {
  const kept = capabilities.map((name) => `,+${name}`).join('')
  return [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`,
    '--no-new-privs',
    `--inh-caps=-all${kept}`,
    ...(capabilities.length === 0 ? [] : [`--ambient-caps=-all${kept}`, '--securebits=+no_setuid_fixup']),
    `--bounding-set=-all${kept}`,
  ]
}

/**
 * The shell script that makes a view. It moves the kept places below /mnt, covers the closed directories,
 * and moves the kept places back. All of this happens in a mount namespace that ends with the part. The
 * arguments are the kept places, the closed directories, the kept places again, and the command, with `--`
 * after each list of places.
 */
const viewScript = `set -e
here=$PWD mask=$(umask)
umask 022
mount -t tmpfs -o mode=755 none /mnt
number=0
while [ "$1" != -- ]; do
  number=$((number + 1))
  if [ -d "$1" ]; then mkdir /mnt/$number; else : > /mnt/$number; fi
  mount --rbind "$1" /mnt/$number
  shift
done
shift
while [ "$1" != -- ]; do
  mount -t tmpfs -o mode=755 none "$1"
  shift
done
shift
number=0
while [ "$1" != -- ]; do
  number=$((number + 1))
  if [ -d /mnt/$number ]; then mkdir -p "$1"; else mkdir -p "\${1%/*}"; : > "$1"; fi
  mount --move /mnt/$number "$1"
  shift
done
shift
umount /mnt
umask $mask
cd "$here" 2> /dev/null || cd /
exec "$@"`

function viewCommand({ closed, kept }: View): readonly string[] {
  const shell = ['/bin/sh', '-c', viewScript, 'view', ...kept, '--', ...closed, '--', ...kept, '--']
  return ['unshare', '--mount', '--propagation', 'private', '--', ...shell]
}

let views: Promise<boolean> | undefined

async function canMakeViews(): Promise<boolean> {
  views ??= run('unshare', [
    '--mount',
    '--propagation',
    'private',
    '--',
    'mount',
    '-t',
    'tmpfs',
    'none',
    '/mnt',
  ]).then(
    () => true,
    () => false,
  )
  return views
}

const capDacReadSearch = 1n << 2n

function hasReadSearch(): boolean {
  const bounding = /^CapBnd:\s+(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return (BigInt(`0x${bounding}`) & capDacReadSearch) !== 0n
}

/**
 * Whether users other than the owner may read a file, or look into a directory. A place that does not exist
 * yet counts as open, because it will be made so.
 */
function isOpen(place: string): boolean {
  const found = statSync(place, { throwIfNoEntry: false })
  if (found === undefined) return true
  const needed = found.isDirectory() ? 0o005 : 0o004
  return (found.mode & needed) === needed
}

/** The directories above `place` that other users can not enter. */
function closedAbove(place: string): readonly string[] {
  return parentsOf(place).filter((directory) => {
    const found = statSync(directory, { throwIfNoEntry: false })
    return found !== undefined && (found.mode & 0o001) === 0
  })
}

function parentsOf(place: string): readonly string[] {
  const parent = path.dirname(place)
  return parent === place ? [] : [...parentsOf(parent), parent]
}

/**
 * All places from one of these directories down to the program: the directory, the program, and those
 * between.
 */
function wayBelow(directories: readonly string[], program: string): readonly string[] {
  const way = [...parentsOf(program), program]
  return way.filter((place) => directories.some((one) => isWithin(place, one)))
}

/** The places that do not lie within another place of the list. */
function outermost(places: readonly string[]): readonly string[] {
  const unique = [...new Set(places)]
  return unique.filter((place) => !unique.some((other) => other !== place && isWithin(place, other)))
}

function isWithin(place: string, directory: string): boolean {
  return place === directory || place.startsWith(directory === '/' ? '/' : `${directory}/`)
}
