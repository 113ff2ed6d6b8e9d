import { existsSync } from 'node:fs'
import { run, which } from './command.mjs'
import { Missing } from './missing.mjs'
import { isRoot } from './paths.mjs'

const qemu = '/usr/bin/qemu-system-x86_64'
/**
 * The packages that set-up may install. Each has a file whose existence shows that it is installed, and says
 * what it does for Roost.
 */
const known = {
  'qemu-system-x86': [qemu, 'runs the virtual machines'],
  'squashfs-tools': ['/usr/bin/sqfstar', "turns an image's layers into one file system"],
  e2fsprogs: ['/sbin/mkfs.ext4', 'makes, checks and repairs the file systems of volumes'],
  iproute2: ['/sbin/ip', 'connects virtual machines, and keeps a run in a network namespace of its own'],
  nftables: ['/usr/sbin/nft', 'keeps virtual machines apart'],
  'wireguard-tools': ['/usr/bin/wg', 'sets up the encrypted network between the hosts'],
  'wireguard-go': [
    '/usr/bin/wireguard-go',
    'carries that network where the kernel has no module for WireGuard',
  ],
  passwd: ['/usr/sbin/useradd', 'makes the users that the parts of a stack run as where root starts it'],
  'util-linux': ['/usr/bin/setpriv', 'starts processes without privileges'],
  'musl-tools': ['/usr/bin/musl-gcc', 'builds the program that runs first in a virtual machine'],
  gcc: ['/usr/bin/gcc', 'is the compiler behind musl-gcc'],
  'linux-libc-dev': ['/usr/include/linux/fuse.h', 'has the headers of the kernel that this program includes'],
  'busybox-static': ['/bin/busybox', 'is the sample image official/busybox'],
  curl: ['/usr/bin/curl', 'calls the API as the printed example and the tour do'],
  lz4: ['/usr/bin/lz4', 'unpacks the guest kernel'],
  'xz-utils': ['/usr/bin/xz', 'unpacks the guest kernel'],
  skopeo: ['/usr/bin/skopeo', 'pushes images as a user would'],
  openssl: ['/usr/bin/openssl', 'checks certificates and measures as other programs would'],
  pebble: ['/usr/bin/pebble', 'is the authority that certificates are ordered from'],
  wrk: ['/usr/bin/wrk', 'measures'],
  chromium: ['/usr/bin/chromium', 'opens published pages as a person would'],
  'python3-pip': ['/usr/bin/pip3', 'installs the Python SDK that the tests call the API with'],
  'libnss3-tools': ['/usr/bin/certutil', "lets that browser trust the stack's certificates"],
}

/** The packages that are needed only if set-up runs as root. */
const forRoot = new Set(['passwd'])

let listsUpdated = false

export function isDebianPackage(need) {
  return known[need] !== undefined
}

/** The packages among `needs` that are not installed on this machine. */
export function absentPackages(needs, machine = { isRoot, has: existsSync }) {
  const wanted = needs.filter((need) => isDebianPackage(need) && (machine.isRoot || !forRoot.has(need)))
  return wanted.filter((need) => !machine.has(known[need][0]))
}

/** The paths of installed programs for the code that looks them up. */
export function packagePaths() {
  return existsSync(qemu) ? { qemu } : {}
}

export const debianPackages = {
  title: 'Debian packages',
  async bring({ needs, say }) {
    const absent = absentPackages(needs)
    if (absent.length > 0) await installPackages(absent, say)
    return {}
  },
}

async function installPackages(names, say) {
  const missing = (cause) =>
    new Missing({
      what: names.join(', '),
      why: names.map((name) => `${name} ${known[name][1]}`).join('; '),
      command: `${isRoot ? '' : 'sudo '}apt-get install -y --no-install-recommends ${names.join(' ')}`,
      cause,
    })
  if (!isRoot || !(await which('apt-get'))) throw missing()
  await updateLists(say)
  await aptGet(['install', '-y', '--no-install-recommends', ...names], { onLine: say }).catch((cause) => {
    throw missing(cause)
  })
}

/**
 * Updates the lists of packages, once per set-up. An unreachable repository does not stop set-up here; the
 * install fails if it needs that repository.
 */
export async function updateLists(say) {
  if (listsUpdated || !isRoot) return
  listsUpdated = true
  await aptGet(['update'], { onLine: say }).catch((error) => say(error.message.split('\n')[0]))
}

export function aptGet(args, options = {}) {
  return run('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    ...options,
    env: { ...options.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
  })
}
