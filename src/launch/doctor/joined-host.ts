import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent, request } from 'undici'
import { apiHeader } from '../../trust/certificate-request.ts'
import { partConnector } from '../../trust/part-connector.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { isPortFree } from '../ports.ts'
import type { DoctorCheck } from './check.ts'

const answerMs = 5_000
/** A larger difference lets certificates be too young or too old, and times in lists be wrong. */
const greatestDifferenceS = 60
const programFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** A machine that joined an installation, as far as it is checked. */
export interface CheckedHost {
  readonly hostId: string
  /** Where the control plane is, such as `192.0.2.10:7075`. */
  readonly controlPlane: string
  readonly ownAddress: string
  readonly agentPort: number
  readonly meshPort: number
  /** Undefined if it is damaged. */
  readonly identity: PartIdentity | undefined
}

/** The checks of what a further host needs besides what every host needs. */
export async function joinedHostChecks(host: CheckedHost, running: boolean): Promise<readonly DoctorCheck[]> {
  return [
    ...(await controlPlaneChecks(host)),
    tunnelCheck(),
    ...(await hostPortChecks(host, { hasAgent: running, hasMesh: running })),
  ]
}

/** Whether the ports of a host are free. Those that it has itself by now need not be. */
export async function hostPortChecks(
  { ownAddress, agentPort, meshPort }: Pick<CheckedHost, 'ownAddress' | 'agentPort' | 'meshPort'>,
  { hasAgent, hasMesh }: { readonly hasAgent: boolean; readonly hasMesh: boolean },
): Promise<readonly DoctorCheck[]> {
  const hasAgentPort =
    hasAgent || (await isPortFree({ host: ownAddress, port: agentPort }).catch(() => false))
  const hasMeshPort = hasMesh || (await isUdpPortFree(meshPort))
  return [
    hostPortCheck(hasAgentPort, {
      name: 'port of the agent',
      port: `TCP ${agentPort}`,
      setting: 'ROOST_AGENT_PORT',
    }),
    hostPortCheck(hasMeshPort, {
      name: 'port of the mesh',
      port: `UDP ${meshPort}`,
      setting: 'ROOST_MESH_PORT',
    }),
  ]
}

/** Whether the control plane answers, still knows this host, and has the same time. */
export async function controlPlaneChecks({
  hostId,
  controlPlane,
  identity,
}: Pick<CheckedHost, 'hostId' | 'controlPlane' | 'identity'>): Promise<readonly DoctorCheck[]> {
  const name = 'control plane'
  if (identity === undefined) {
    const remedy = 'remove this host, and join again'
    return [{ name, status: 'missing', detail: 'the certificate of this host is damaged', remedy }]
  }
  const dispatcher = new Agent({ connect: partConnector(() => identity, { timeout: answerMs }) })
  try {
    const answer = await request(`https://${controlPlane}/internal/nodes/${hostId}`, {
      dispatcher,
      headers: apiHeader,
      signal: AbortSignal.timeout(answerMs),
    })
    await answer.body.dump()
    const isKnown = answer.statusCode !== 401
    const detail = `${controlPlane} answers${isKnown ? ` host '${hostId}'; images and work come the same way` : ''}`
    return [
      isKnown
        ? { name, status: 'ok', detail }
        : {
            name,
            status: 'missing',
            detail: `${detail}, but does not know host '${hostId}' any more`,
            remedy: 'join again with what `roost host invite` prints there',
          },
      clockCheck(Date.parse(String(answer.headers.date)), Date.now()),
    ]
  } catch (error) {
    const remedy = `look whether the control plane runs, and whether a firewall lets TCP to ${controlPlane} through`
    return [{ name, status: 'missing', detail: `${controlPlane} does not answer: ${textOf(error)}`, remedy }]
  } finally {
    await dispatcher.destroy()
  }
}

export function clockCheck(theirMs: number, ownMs: number): DoctorCheck {
  const name = 'clock'
  const difference = Math.round((ownMs - theirMs) / 1_000)
  if (Number.isNaN(difference))
    return { name, status: 'warning', detail: 'the control plane does not tell its time' }
  const [apart, order] = [Math.abs(difference), difference < 0 ? 'behind' : 'ahead of']
  const detail = apart <= 1 ? 'the same as on the control plane' : `${apart} s ${order} the control plane`
  if (apart <= greatestDifferenceS) return { name, status: 'ok', detail }
  return { name, status: 'missing', detail, remedy: 'set the clocks by a time server, such as with chrony' }
}

/** What carries the mesh: the kernel, or a process. `has` says whether the machine has a file. */
export function tunnelCheck(has: (path: string) => boolean = existsSync): DoctorCheck {
  const name = 'tunnel'
  const hasProgram = (program: string) => programFolders.some((folder) => has(`${folder}/${program}`))
  if (!hasProgram('wg'))
    return { name, status: 'missing', detail: 'there is no program wg', remedy: 'install wireguard-tools' }
  if (has('/sys/module/wireguard')) return { name, status: 'ok', detail: 'WireGuard of the kernel' }
  if (hasProgram('wireguard-go')) {
    const detail = 'wireguard-go, unless the kernel has a module for WireGuard, which is faster'
    return { name, status: 'ok', detail }
  }
  const remedy = 'modprobe wireguard, or install wireguard-go'
  return { name, status: 'missing', detail: 'neither the kernel nor a program carries WireGuard', remedy }
}

function hostPortCheck(
  isOurs: boolean,
  { name, port, setting }: { readonly name: string; readonly port: string; readonly setting: string },
): DoctorCheck {
  if (isOurs) return { name, status: 'ok', detail: `${port} is free, or this host has it` }
  const remedy = `end it, or set ${setting}`
  return { name, status: 'missing', detail: `${port} is used by another process`, remedy }
}

async function isUdpPortFree(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  try {
    socket.bind({ port, exclusive: true })
    await once(socket, 'listening')
    return true
  } catch {
    return false
  } finally {
    socket.close()
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
