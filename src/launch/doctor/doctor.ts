import path from 'node:path'
import { installationChecks } from './installation.ts'
import type { DoctorCheck } from './check.ts'
import { groupsCheck } from './groups.ts'
import { joinedHostChecks } from './joined-host.ts'
import type { CheckedHost } from './joined-host.ts'
import type { GroupsProbe } from './groups.ts'
import { accelerationCheck, diskCheck, memoryCheck, rootCheck, tunCheck } from './machine.ts'
import type { AccelerationProbe } from './machine.ts'
import { jailCheck, partUsersCheck, separateUsersCheck, temporalAccessCheck } from './privileges.ts'
import type { JailProbe } from './privileges.ts'
import { volumesCheck, volumeToolsCheck } from './volumes.ts'
import type { VolumesProbe } from './volumes.ts'
import { identityDirectory, readJoinedHost } from '../host/joined-host.ts'
import { isPortFree } from '../ports.ts'
import { readIdentity } from '../../trust/kept-identity.ts'
import { runningParts } from '../parts/stale-processes.ts'

/** The result of `roost admin doctor`: a check for each thing that Roost needs or can use on this machine. */
export interface DoctorReport {
  /** False if something that Roost needs is missing. */
  readonly ok: boolean
  readonly checks: readonly DoctorCheck[]
}

export interface DoctorSettings {
  readonly dataDir: string
  readonly cacheDir: string
  readonly apiHost: string
  readonly apiPort: number
  readonly temporalUiPort: number
  readonly portOffset: number
  readonly vmEgress: boolean
  readonly agentPort: number
  readonly meshPort: number
}

/** The probes whose answers only the host's drivers know. */
export interface DoctorProbes {
  /** Starts a small virtual machine, which may run for a few seconds. */
  readonly acceleration: AccelerationProbe
  /** Finds the namespaces that a virtual machine's process can not get for itself. */
  readonly jailGaps: JailProbe
  readonly volumes: VolumesProbe
  readonly groups: GroupsProbe
}

/** Makes all checks. It changes nothing on the machine. */
export async function runDoctor(settings: DoctorSettings, probes: DoctorProbes): Promise<DoctorReport> {
  const running = runningParts(path.join(settings.dataDir, 'run')).length > 0
  const joined = await joinedHost(settings)
  const checks = [
    ...(joined ? await joinedHostChecks(joined, running) : []),
    ...(await installationChecks(settings.cacheDir, joined !== undefined)),
    await volumeToolsCheck(),
    rootCheck({ isRoot: process.getuid?.() === 0, vmEgress: settings.vmEgress }),
    await separateUsersCheck(),
    await partUsersCheck(),
    ...(joined ? [] : [await temporalAccessCheck()]),
    await jailCheck(probes.jailGaps),
    await tunCheck(),
    await accelerationCheck(probes.acceleration),
    ...(joined ? [] : await portChecks(settings, running)),
    await diskCheck('data directory', settings.dataDir),
    await diskCheck('cache directory', settings.cacheDir),
    ...(joined ? [] : await volumesCheck(probes.volumes)),
    memoryCheck(),
    await groupsCheck(probes.groups, process.getuid?.() === 0),
  ]
  return { ok: checks.every((check) => check.status !== 'missing'), checks }
}

/** Undefined if this machine is no further host of an installation. */
async function joinedHost({
  dataDir,
  agentPort,
  meshPort,
}: DoctorSettings): Promise<CheckedHost | undefined> {
  const joined = await readJoinedHost(dataDir)
  if (joined === undefined) return undefined
  return { ...joined, agentPort, meshPort, identity: await readIdentity(identityDirectory(dataDir)) }
}

type PortSettings = Pick<DoctorSettings, 'apiHost' | 'apiPort' | 'temporalUiPort' | 'portOffset'>

export async function portChecks(settings: PortSettings, running: boolean): Promise<readonly DoctorCheck[]> {
  const { apiHost, apiPort, temporalUiPort, portOffset } = settings
  const wanted = [
    { name: 'port of the API', at: { host: apiHost, port: apiPort }, setting: 'ROOST_API_PORT' },
    {
      name: 'port of the Web UI',
      at: { host: '127.0.0.1', port: temporalUiPort },
      setting: 'ROOST_TEMPORAL_UI_PORT',
    },
    ...[80, 443].map((port) => ({
      name: `public port ${port}`,
      at: { host: '0.0.0.0', port: port + portOffset },
      setting: 'ROOST_PORT_OFFSET',
    })),
  ]
  return Promise.all(wanted.map((one) => portCheck({ ...one, running })))
}

async function portCheck(input: {
  readonly name: string
  readonly at: { readonly host: string; readonly port: number }
  readonly setting: string
  readonly running: boolean
}): Promise<DoctorCheck> {
  const { name, at, setting, running } = input
  try {
    if (await isPortFree(at)) return { name, status: 'ok', detail: `${at.port} is free` }
  } catch (error) {
    return {
      name,
      status: 'warning',
      detail: `${at.port} can not be used: ${String(error)}`,
      remedy: `set ${setting}`,
    }
  }
  if (running) return { name, status: 'ok', detail: `${at.port} is used by the running stack` }
  return {
    name,
    status: 'warning',
    detail: `${at.port} is used by another process`,
    remedy: `set ${setting}`,
  }
}
