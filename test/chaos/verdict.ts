import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { instancesOf } from '../support/autoscaled-service.ts'
import { isUnknown } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { virtualMachinesByInstance } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { hostNames } from './chaos-scene.ts'
import type { ChaosScene, HostName } from './chaos-scene.ts'
import type { Fleet } from './fleet.ts'
import type { Wishes } from './operator.ts'

const settleLimitMs = 240_000
const hasVm = new Set(['running', 'starting'])

/** Waits until every wish is met and nothing is left over, and throws what is not so. */
export async function verifyAllIsWell(scene: ChaosScene, fleet: Fleet, wishes: Wishes): Promise<void> {
  let wrong: readonly string[] = ['nothing was looked at']
  await until(
    'every wish is met and nothing is left over',
    async () => {
      wrong = await whatIsWrong(scene, fleet, wishes).catch((error: unknown) => [String(error)])
      return wrong.length === 0
    },
    { limitMs: settleLimitMs },
  ).catch((cause: unknown) => {
    throw new Error(`${String(cause)}:\n  ${wrong.join('\n  ')}`)
  })
}

async function whatIsWrong(scene: ChaosScene, fleet: Fleet, wishes: Wishes): Promise<readonly string[]> {
  const { stack } = scene
  const wrong: string[] = []
  const hosts = await stack.api.call('getHosts', {})
  for (const { name, state, drain } of hosts as readonly { name: string; state: string; drain?: unknown }[]) {
    if (state !== 'live') wrong.push(`${name} is ${state}`)
    if (drain !== undefined) wrong.push(`${name} is still emptied`)
  }
  const members = [
    ...Object.values(fleet.ledgers).map(({ name, uuid }) => ({ name, uuid })),
    { name: 'talker', uuid: fleet.talker.uuid },
    ...[...wishes.passers].map(([name, uuid]) => ({ name, uuid })),
  ]
  const scaled = await instancesOf(stack, fleet.scaled)
  if (scaled.length !== wishes.size)
    wrong.push(`scaled has ${scaled.length} instances and not ${wishes.size}`)
  const views: InstanceView[] = [...scaled]
  for (const { name, uuid } of members) {
    const view = await stack.api.one('getInstances', { object: uuid })
    views.push(view)
    const wanted = wishes.stopped.has(name) ? ['stopped'] : ['running', 'standby']
    if (!wanted.includes(String(view.state)))
      wrong.push(`${name} is ${view.state} and not ${wanted.join(' or ')}`)
  }
  for (const uuid of wishes.deleted)
    if (!(await isUnknown(stack.api, uuid))) wrong.push(`${uuid} was deleted and is there`)
  return [...wrong, ...leftOver(scene, views)]
}

/** What the hosts have beside the instances that are placed there, and what they lack. */
function leftOver({ dataDirs }: ChaosScene, views: readonly InstanceView[]): readonly string[] {
  return hostNames.flatMap((host) => {
    const here = views.filter((view) => view.host === host)
    const machines = virtualMachinesByInstance(dataDirs[host])
    const running = here.filter(({ state }) => hasVm.has(String(state))).map(({ uuid }) => uuid)
    const wrong = compare(`VMs of ${host}`, [...machines.keys()], running)
    for (const [uuid, pids] of machines)
      if (pids.length > 1) wrong.push(`${uuid} has ${pids.length} VMs on ${host}`)
    const placed = here.map(({ uuid }) => uuid)
    return [
      ...wrong,
      ...compare(`directories of instances on ${host}`, directoriesOf(dataDirs, host), placed),
    ]
  })
}

function directoriesOf(dataDirs: ChaosScene['dataDirs'], host: HostName): readonly string[] {
  const directory = path.join(dataDirs[host], 'agent', 'instances')
  return existsSync(directory) ? readdirSync(directory) : []
}

function compare(what: string, found: readonly string[], wanted: readonly string[]): string[] {
  if (isDeepStrictEqual(found.toSorted(), wanted.toSorted())) return []
  const surplus = found.filter((one) => !wanted.includes(one))
  const missing = wanted.filter((one) => !found.includes(one))
  return [`${what}: ${surplus.join(', ') || 'none'} too many, ${missing.join(', ') || 'none'} missing`]
}

/** Throws with all that was promised and not kept. */
export function assertKept(broken: readonly string[]): void {
  assert.deepEqual(broken, [])
}
