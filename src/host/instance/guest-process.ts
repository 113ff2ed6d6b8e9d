import { expandImageLine, joinArguments } from '../../domain/instance/argument-line.ts'
import { HostFailure } from '../../domain/instance/host-work.ts'
import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import { findProcessExcess, namedStrings } from '../../domain/instance/process-size.ts'
import type { PreparedImage } from '../images/images.ts'
import type { GuestProcess } from '../vmm/vmm.ts'
import { HostStartError } from './host-start-error.ts'

/**
 * The longest host name that the kernel takes. A longer instance name is cut in the guest's host name only.
 */
const hostnameMaxLength = 63

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * What an instance runs: the image's entrypoint, then the instance's arguments or else the image's command.
 * Variables of the instance win over the image's, and those over the platform's own:
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
 * The arguments after the entrypoint. If the user gave none, some clients send one empty argument, or the
 * image's whole command as one string; both mean the image's command. If the user gave some, these clients
 * send one line with the image's entrypoint and command before them; `expandImageLine` replaces it by the
 * command's words.
 */
function argumentsOf(spec: LaunchSpec, image: PreparedImage): readonly string[] {
  const { args } = spec
  const only = args?.length === 1 ? args[0] : undefined
  const asTheImage = only === '' || (only !== undefined && only === image.command.join(' '))
  if (args === undefined || args.length === 0 || asTheImage) return image.command
  const entrypoint = image.kind === 'container' ? image.entrypoint : []
  return expandImageLine(args, {
    line: joinArguments([...entrypoint, ...image.command]),
    words: image.command,
  })
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

/**
 * Refuses strings that no process can be given. Values may be secrets, so a message names the variable only.
 */
function checkStrings(process: GuestProcess): void {
  const nul = namedStrings(process.argv, process.env).find(([, text]) => text.includes('\0'))
  if (nul !== undefined) throw unusable(`${nul[0]} holds a NUL byte, which no process can be given`)
  const excess = findProcessExcess(process.argv, process.env)
  if (excess === undefined) return
  const { what, bytes, limit } = excess
  throw unusable(`${what}: ${String(bytes)} bytes, but at most ${String(limit)} are possible`)
}

function unusable(message: string): HostStartError {
  return new HostStartError(HostFailure.ImageUnusable, message)
}
