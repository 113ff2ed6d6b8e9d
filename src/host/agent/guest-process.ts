import { HostFailure } from '../../domain/host-work.ts'
import type { LaunchSpec } from '../../domain/node-protocol.ts'
import type { PreparedImage } from '../images/images.ts'
import type { GuestProcess } from '../vmm/vmm.ts'
import { HostStartError } from './host-start-error.ts'

/** Linux takes no longer single argument or variable (32 pages), terminator included. */
const stringMaxBytes = 128 * 1024 - 1
/** Of all arguments and variables together: far below the kernel's own bound (2 MiB), so that exec never refuses. */
export const processMaxBytes = 1024 * 1024
/** The kernel's bound of a host name; longer instance names are cut in the guest's host name only. */
const hostnameMaxLength = 63

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * What an instance runs: the image's entrypoint, then the instance's arguments or else the image's command. Variables
 * of the instance win over the image's, and those over the platform's own:
 *
 *   HOSTNAME               the guest's host name
 *   PATH                   the usual directories
 *   ROOST_INSTANCE_NAME    the instance's name
 *   ROOST_INSTANCE_UUID    its UUID
 */
export function guestProcess(spec: LaunchSpec, image: PreparedImage): GuestProcess {
  const hostname = spec.name.slice(0, hostnameMaxLength).replace(/[-.]+$/, '')
  const process = {
    argv: [...(image.kind === 'container' ? image.entrypoint : []), ...argumentsOf(spec, image)],
    env: { ...platformEnv(spec, hostname), ...imageEnv(image), ...spec.env },
    workingDirectory:
      image.kind === 'container' && image.workingDirectory !== '' ? image.workingDirectory : '/',
    user: image.kind === 'container' ? image.user : '',
    hostname,
  }
  if (image.kind === 'container' && process.argv.length === 0) {
    throw unusable(
      'the image names no entrypoint or command, and the instance no arguments: there is nothing to run',
    )
  }
  checkStrings(process)
  return process
}

/**
 * Clients send one empty argument for none, and the image's whole command as one string when the user gave no
 * arguments of their own; both mean the image's command.
 */
function argumentsOf(spec: LaunchSpec, image: PreparedImage): readonly string[] {
  const { args } = spec
  const only = args?.length === 1 ? args[0] : undefined
  const asTheImage = only === '' || (only !== undefined && only === image.command.join(' '))
  return args === undefined || args.length === 0 || asTheImage ? image.command : args
}

function platformEnv(spec: LaunchSpec, hostname: string): Record<string, string> {
  return {
    PATH: defaultPath,
    HOSTNAME: hostname,
    ROOST_INSTANCE_NAME: spec.name,
    ROOST_INSTANCE_UUID: spec.uuid,
  }
}

function imageEnv(image: PreparedImage): Record<string, string> {
  const pairs = image.env.map((variable): [string, string] => {
    const equals = variable.indexOf('=')
    return equals < 0 ? [variable, ''] : [variable.slice(0, equals), variable.slice(equals + 1)]
  })
  return Object.fromEntries(pairs.filter(([name]) => name !== ''))
}

/** Values may be secrets: a message names a variable, never what it holds. */
function checkStrings(process: GuestProcess): void {
  const named: (readonly [string, string])[] = [
    ...process.argv.map((argument, index) => [`argument ${String(index)}`, argument] as const),
    ...Object.entries(process.env).map(([name, value]) => [`variable ${name}`, `${name}=${value}`] as const),
  ]
  let total = 0
  for (const [what, text] of named) {
    if (text.includes('\0')) throw unusable(`${what} holds a NUL byte, which no process can be given`)
    const size = Buffer.byteLength(text)
    if (size > stringMaxBytes)
      throw unusable(`${what} has ${String(size)} bytes; at most ${String(stringMaxBytes)} are possible`)
    total += size + 1
  }
  if (total > processMaxBytes) {
    throw unusable(
      `arguments and environment have ${String(total)} bytes; at most ${String(processMaxBytes)} are possible`,
    )
  }
}

function unusable(message: string): HostStartError {
  return new HostStartError(HostFailure.ImageUnusable, message)
}
