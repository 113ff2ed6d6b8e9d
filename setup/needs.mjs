/**
 * What an installation, the tests and each section of the benchmark need. A need is the name of a Debian
 * package in `debian-packages.mjs`, or of a thing in `things.mjs`. This file loads no other one, because the
 * benchmark reads it too, and a run of the benchmark fetches nothing.
 */

/** The packages for the network namespace of a run, and for binding a process to a core. */
const isolation = ['iproute2', 'util-linux']
/**
 * The packages for static programs of guests and upstreams, which do not use the machine's own C library.
 */
const compiler = ['musl-tools', 'gcc', 'linux-libc-dev']
const images = [...compiler, 'busybox-static', 'sampleImages']
const virtualMachines = [
  ...isolation,
  ...compiler,
  'qemu-system-x86',
  'squashfs-tools',
  'e2fsprogs',
  'nftables',
  'lz4',
  'xz-utils',
  'kernel',
  'guest',
]
/** What the parts of Roost need in an installation on services that exist already. */
const parts = ['npmPackages', 'curl', 'workflowBundle', 'consolePages', ...virtualMachines, ...images]
/** What makes the encrypted network between the hosts of an installation. */
const wireguard = ['wireguard-tools', 'wireguard-go']
/**
 * What a further host of an installation needs. The services, the workflows, the console and the sample
 * images are where the installation's API is.
 */
const host = ['npmPackages', ...virtualMachines, ...wireguard]
/** What a machine that joined with an API or a worker needs. */
const control = [...new Set([...host, 'workflowBundle', 'consolePages', 'passwd'])]
const services = ['registry', 'temporalCli']
/** What the embedded stack needs. It needs passwd because its parts run as users of their own. */
const stack = [...parts, ...services, 'passwd']
/** What a stack with the fake VMM needs. Such a stack runs no virtual machines. */
const stackWithoutMachines = ['npmPackages', 'workflowBundle', ...isolation, ...images, ...services, 'passwd']
const tests = [
  ...stack,
  ...wireguard,
  'skopeo',
  'openssl',
  'pebble',
  'wrk',
  'chromium',
  'libnss3-tools',
  'testServer',
  'temporalServer',
  'loadTools',
  'prometheus',
  'python3-pip',
  'pythonSdk',
]

/** The sections of `npm run bench` in the order of their run, with what each of them needs. */
export const benchSections = {
  starts: stack,
  timeline: stack,
  memory: stack,
  wake: stack,
  volumes: stack,
  lifecycle: stackWithoutMachines,
  reads: stackWithoutMachines,
  gateway: ['npmPackages', ...isolation, ...compiler, 'busybox-static', 'openssl', 'wrk', 'loadTools'],
  cores: ['npmPackages', ...isolation, ...compiler, 'wrk'],
  certificates: ['npmPackages', ...isolation],
  autoscale: stack,
  rollout: stack,
  neighbours: stack,
  scale: stackWithoutMachines,
  // It can measure with Temporal's production server, too.
  hosts: [...stackWithoutMachines, 'temporalServer'],
}

/**
 * The sections with these names, or all sections if there are no names. Throws for a name that is no
 * section.
 * @param {readonly string[]} names
 * @returns {(keyof typeof benchSections)[]}
 */
export function sectionsNamed(names) {
  const all = Object.keys(benchSections)
  const unknown = names.filter((name) => !all.includes(name))
  if (unknown.length > 0)
    throw new Error(`There is no section ${unknown.join(', ')}. There are ${all.join(', ')}.`)
  return names.length === 0 ? all : all.filter((name) => names.includes(name))
}

/**
 * The names of sections among the arguments of the benchmark. The others are options of sections, such as
 * `--hosts 20`; each has a value.
 * @param {readonly string[]} args
 * @returns {string[]}
 */
function sectionsIn(args) {
  const isOption = (text) => text !== undefined && text.startsWith('--')
  const isValue = (index) => isOption(args[index - 1]) && !args[index - 1].includes('=')
  return args.filter((text, index) => !isOption(text) && !isValue(index))
}

/**
 * The needs for the arguments `--parts`, `--host`, `--control`, `--tests`, `--bench [section ...]`, or none
 * for the embedded stack. A stack that further hosts may join needs what connects the machines.
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} [env]
 * @returns {string[]}
 */
export function needsOf([form, ...names], env = {}) {
  const wanted =
    form === '--bench'
      ? sectionsNamed(sectionsIn(names)).flatMap((name) => benchSections[name])
      : forms[form ?? '']
  if (wanted === undefined)
    throw new Error(
      `${form} is not known; there are --parts, --host, --control, --tests and --bench [section ...].`,
    )
  const isJoined = form === undefined && Boolean(env.ROOST_HOSTS_ADDRESS)
  return [...new Set([...wanted, ...(isJoined ? wireguard : [])])]
}

const forms = { '': stack, '--parts': parts, '--host': host, '--control': control, '--tests': tests }
