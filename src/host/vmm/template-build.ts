import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { guestMemoryMb } from '../../domain/host/memory-room.ts'
import { buildCommandLine, firstFileFd, platformKernelArguments } from './command-line.ts'
import type { PlanContext, TemplateFiles, TemplateShape } from './machine-plan.ts'
import type { QmpClient } from './qmp-client.ts'
import { unlessStill } from './still-guest.ts'
import { makeTemplateRam } from './template-ram.ts'
import type { TemplateRam } from './template-ram.ts'
import { startTransientMachine } from './transient-machine.ts'
import { transientOwner } from './vm-owner.ts'

export interface Template extends TemplateFiles {
  /** The memory that the guest had touched when it was frozen. The rest takes no memory of the host. */
  readonly heldMb: number
  release(): Promise<void>
}

export interface TemplateWork {
  readonly statePath: string
  readonly signal: AbortSignal
  /** The control groups that the template's machine enters. Its memory is counted there. */
  readonly groups?: readonly string[]
}

/** The limit of one build. A boot takes a second or two; a very busy host needs longer. */
const buildLimitMs = 60_000
/** The largest state that is accepted. The state of the devices, without the memory, has some 60 kB. */
const maxStateBytes = 16 << 20
const migrationPollMs = 5

/**
 * Boots the platform's kernel up to `ready` and freezes the guest there, before it knows anything of an
 * instance. The guest's memory stays in an anonymous file, and the state of the devices goes to `statePath`.
 * The drivers of disks and network are not loaded at that point, so the template fits instances with any
 * disks and network. `signal` aborts the build.
 */
export async function buildTemplate(
  spec: TemplateShape,
  context: PlanContext,
  { statePath, signal: given, groups = [] }: TemplateWork,
): Promise<Template> {
  const signal = AbortSignal.any([given, AbortSignal.timeout(buildLimitMs)])
  const ram = await makeTemplateRam(context.assets.keeperPath, guestMemoryMb(spec.memoryMb))
  try {
    const state = await withStateSocket(
      path.dirname(statePath),
      async (socket) => await freeze(spec, context, { ram, socket, signal, groups }),
    )
    await ram.seal()
    await writeFile(statePath, state, { mode: 0o600 })
    signal.throwIfAborted()
  } catch (error) {
    ram.release()
    throw error
  }
  return {
    ramPath: ram.path,
    heldMb: ram.heldMb,
    statePath,
    release: async () => {
      ram.release()
      await rm(statePath, { force: true })
    },
  }
}

interface FreezeInput {
  readonly ram: TemplateRam
  readonly socket: StateSocket
  readonly signal: AbortSignal
  readonly groups: readonly string[]
}

/**
 * Boots and freezes the machine, and returns the state of its devices. The machine has the same devices in
 * the same order as an instance's: otherwise the state would not fit.
 */
async function freeze(
  spec: TemplateShape,
  context: PlanContext,
  { ram, socket, signal, groups }: FreezeInput,
): Promise<Buffer> {
  const { facts, assets, accelerator } = context
  const fd = {
    kernel: firstFileFd,
    initrd: firstFileFd + 1,
    ram: firstFileFd + 2,
    socket: firstFileFd + 3,
    volume: firstFileFd + 4,
  }
  const memoryMb = guestMemoryMb(spec.memoryMb)
  const machine = await startTransientMachine({
    keeperPath: assets.keeperPath,
    groups,
    memoryMb,
    owner: await transientOwner({ isRoot: facts.isRoot, accelerator }),
    command: buildCommandLine({
      qemuPath: facts.qemuPath,
      accelerator,
      memoryMb,
      vcpus: spec.vcpus,
      kernel: {
        kernelFd: fd.kernel,
        initrdFd: fd.initrd,
        commandLine: platformKernelArguments(accelerator, facts.tscKhz),
      },
      template: { ramFd: fd.ram },
      // Any file will do, because the disk's driver is not loaded.
      rootDiskFd: fd.initrd,
      ...(spec.volume === undefined ? {} : { volume: { fd: fd.volume, readonly: true } }),
    }),
    files: [
      { path: assets.kernelPath, flags: 'r' },
      { path: assets.initrdPath, flags: 'r' },
      { path: ram.path, flags: 'r+' },
      { path: socket.directory, flags: 'r' },
      { path: assets.initrdPath, flags: 'r' },
    ],
  })
  try {
    await machine.monitor.negotiate()
    await machine.monitor.execute('migrate-set-capabilities', {
      capabilities: [{ capability: 'x-ignore-shared', state: true }],
    })
    await unlessStill(
      () => machine.rest(),
      signal,
      async (unended) => await machine.line('ready', unended),
    )
    await machine.monitor.execute('migrate', { uri: `unix:/dev/fd/${fd.socket}/state.sock` })
    const [state] = await Promise.all([socket.received, migrationDone(machine.monitor, signal)])
    return state
  } catch (error) {
    throw new Error(
      `the template's machine failed${machine.complaint && `; it said: ${machine.complaint}`}`,
      { cause: error },
    )
  } finally {
    await machine.kill()
  }
}

async function migrationDone(monitor: QmpClient, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { status } = (await monitor.execute('query-migrate')) as { status?: string }
    if (status === 'completed') return
    if (status === 'failed' || status === 'cancelled') throw new Error(`freezing the template ${status}`)
    await delay(migrationPollMs)
  }
}

interface StateSocket {
  readonly directory: string
  readonly received: Promise<Buffer>
}

/**
 * Runs `work` with a socket. A VMM of another user reaches the socket through an inherited descriptor of the
 * socket's directory. Nobody without that descriptor gets there: the directories above are closed to others.
 */
async function withStateSocket<Result>(
  parent: string,
  work: (socket: StateSocket) => Promise<Result>,
): Promise<Result> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const directory = await mkdtemp(path.join(parent, 'state-'))
  const handle = await open(directory, 'r')
  const server = createServer()
  try {
    await chmod(directory, 0o711)
    // The path goes through the descriptor: a socket's path has room for about a hundred bytes.
    server.listen(`/proc/self/fd/${handle.fd}/state.sock`)
    await once(server, 'listening')
    await chmod(path.join(directory, 'state.sock'), 0o666)
    const received = once(server, 'connection').then(async ([socket]) => await collect(socket as Socket))
    received.catch(() => undefined)
    return await work({ directory, received })
  } finally {
    server.close()
    await handle.close()
    await rm(directory, { recursive: true, force: true })
  }
}

async function collect(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxStateBytes) throw new Error('the state of the template is too large')
  }
  return Buffer.concat(chunks)
}
