import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { keptFiles } from '../../src/domain/protocols.ts'
import { openTableFile } from '../../src/gateway/table-file.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import { Registration } from '../../src/host/agent/registration.ts'
import { TermFile } from '../../src/host/agent/term-file.ts'
import { readUpgradeFile } from '../../src/host/agent/upgrade-file.ts'
import { TermStateFile } from '../../src/host/agent/term-state.ts'
import { NamesFile } from '../../src/host/dns/names-file.ts'
import { openImageStore } from '../../src/host/images/image-store.ts'
import { InstanceStore } from '../../src/host/instance/store.ts'
import { MeshKey } from '../../src/host/mesh/mesh-key.ts'
import { readSnapshot } from '../../src/host/vmm/snapshot-files.ts'
import { readVmRecord } from '../../src/host/vmm/vm-record.ts'
import { VolumeHolds } from '../../src/host/volumes/volume-holds.ts'
import { readJoinedHost } from '../../src/launch/host/joined-host.ts'
import { identify } from '../../src/launch/parts/process-identity.ts'
import { runningParts } from '../../src/launch/parts/stale-processes.ts'
import type { Reader } from './recording.ts'

const uuid = '00000000-0000-4000-8000-000000000001'
export const tableSecret = 'the-gateway-token'

/** Today's readers of what parts leave on disk. */
export const fileReaders: { readonly [Name in keyof typeof keptFiles]: Reader } = {
  async instanceRecord({ message }, directory) {
    await write(path.join(directory, 'instances', uuid, 'record.json'), message)
    const [found] = await new InstanceStore(directory).loadAll()
    return found?.record
  },
  async launchCopy({ message }, directory) {
    await write(path.join(directory, 'instances', uuid, 'launch', 'launch.json'), message)
    return await new InstanceStore(directory).loadLaunch(uuid)
  },
  async vmRecord({ message }, directory) {
    await write(path.join(directory, 'vm.json'), message)
    return await readVmRecord(directory)
  },
  async snapshotRecord({ message }, directory) {
    await write(path.join(directory, 'snapshot', 'snapshot.json'), message)
    return await readSnapshot(directory)
  },
  async imageRecord({ message }, directory) {
    const digest = `sha256:${'ab'.repeat(32)}`
    const store = await openImageStore(directory, () => 0)
    await write(store.fileOf(digest, 'image.json'), message)
    // The paths in a record count as those of its own directory.
    return JSON.parse(JSON.stringify(await store.find(digest)).replaceAll(store.fileOf(digest, ''), '/i'))
  },
  async volumeHold({ message }, directory) {
    await write(path.join(directory, uuid, 'hold.json'), message)
    const holds = new VolumeHolds(directory)
    await holds.open()
    return holds.all()
  },
  async termFile({ message }, directory) {
    const file = path.join(directory, 'term')
    await write(file, message)
    const term = await TermFile.open(file, 'b0075eed-0000-4000-8000-000000000000')
    const read = await term.read()
    await term.close()
    return read
  },
  async termState({ message }, directory) {
    await write(path.join(directory, 'term.json'), message)
    return await new TermStateFile(directory).load()
  },
  async upgradeRecord({ message }, directory) {
    await write(path.join(directory, 'upgrade.json'), message)
    return await readUpgradeFile(directory)
  },
  async assignment({ message }, directory) {
    await write(path.join(directory, 'assignment.json'), message)
    const none = (): never => {
      throw new Error('the assignment on disk is not read')
    }
    const log = { debug: none, info: none, warn: none, error: none }
    const registration = new Registration({
      agentDirectory: directory,
      nodeId: 'h1',
      send: none,
      describe: none,
      onReassigned: none,
      onRefused: none,
      log,
    })
    return await registration.assignment()
  },
  async namesFile({ message }, directory) {
    const file = path.join(directory, 'names.json')
    await write(file, message)
    return await new NamesFile({ path: file, current: () => [], warn: () => undefined }).load()
  },
  async meshKey({ message }, directory) {
    await write(path.join(directory, 'mesh-key'), message)
    return await new MeshKey(directory).publicKey()
  },
  async routesFile({ message }, directory) {
    await write(path.join(directory, 'routes.jsonl'), message)
    const table = new RouteTable()
    const onProblem = (_message: string, error: unknown): never => {
      throw error as Error
    }
    await openTableFile({ directory, secret: tableSecret, onProblem }).load(table)
    return [...table.lines()]
  },
  async joinedHost({ message }, directory) {
    await write(path.join(directory, 'host.json'), message)
    return await readJoinedHost(directory)
  },
  /** The recorded process is none of today's, so the file names this one. */
  async runFile({ message }, directory) {
    const recorded = message as Readonly<Record<string, unknown>>
    const own = Object.entries(identify(process.pid)!).map(([name, value]) => {
      if (!(name in recorded)) throw new Error(`the recorded file has no '${name}'`)
      return [name, value] as const
    })
    await write(path.join(directory, 'gateway.json'), { ...recorded, ...Object.fromEntries(own) })
    return runningParts(directory)
  },
}

/** A text is written as it is, anything else as JSON. */
async function write(file: string, message: unknown): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, typeof message === 'string' ? message : JSON.stringify(message))
}
