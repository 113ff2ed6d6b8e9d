import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { asHostsAddress } from '../../src/settings/setting-formats.ts'
import type { Stack } from '../../test/support/stack.ts'
import type { WantedLink } from './host-link.ts'
import type { LinkKind } from './load-options.ts'

/** What a process with pretended hosts is told. */
export interface WantedHosts {
  readonly nodeIds: readonly string[]
  readonly link: WantedLink
  readonly namespace: string
  readonly directory: string
  readonly memoryMb: number
  readonly processors: number
}

/** How long the API took for each heartbeat since the last question. */
export interface ReportedBeats {
  readonly beatsMs: readonly number[]
}

export interface PretendedHosts {
  readonly pids: readonly number[]
  /** The times of all heartbeats since the last call. */
  takeBeats(): Promise<readonly number[]>
  stop(): Promise<void>
}

/** How many hosts one process plays. More would make the process wait for itself, and not for the API. */
const hostsPerProcess = 100
const memoryMb = 65_536
const processors = 16
const stopLimitMs = 20_000
/**
 * Real hosts have disks of their own, so pretended ones write to memory. On the disk, their writes would
 * slow the one of the control plane.
 */
const memoryDisk = '/dev/shm'

/** Starts hosts that join the stack. Resolves once all of them have joined and take work. */
export async function startPretendedHosts(
  stack: Stack,
  { count, link }: { readonly count: number; readonly link: LinkKind },
): Promise<PretendedHosts> {
  const directory = mkdtempSync(path.join(existsSync(memoryDisk) ? memoryDisk : tmpdir(), 'roost-hosts-'))
  const nodeIds = Array.from({ length: count }, (_, index) => `pretended-${index + 1}`)
  const wanted = {
    link: link === 'tls' ? await invite(stack, nodeIds) : loopbackOf(stack),
    namespace: 'roost',
    directory,
    memoryMb,
    processors,
  }
  const children = Array.from({ length: Math.ceil(count / hostsPerProcess) }, () =>
    fork(path.join(import.meta.dirname, 'hosts-process.ts'), { execPath: process.execPath }),
  )
  const stop = async () => {
    await Promise.all(children.map(end))
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    for (const [index, child] of children.entries()) {
      const own = nodeIds.slice(index * hostsPerProcess, (index + 1) * hostsPerProcess)
      await ask(child, { kind: 'begin', wanted: { ...wanted, nodeIds: own } satisfies WantedHosts })
    }
  } catch (error) {
    await stop()
    throw error
  }
  return {
    pids: children.flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    async takeBeats() {
      const told = await Promise.all(children.map(async (child) => await ask(child, { kind: 'beats' })))
      return told.flatMap(({ beatsMs }) => beatsMs)
    },
    stop,
  }
}

function loopbackOf({ apiUrl, dataDir }: Stack): WantedLink {
  const { temporalAddress } = JSON.parse(readFileSync(path.join(dataDir, 'stack.json'), 'utf8')) as {
    readonly temporalAddress: string
  }
  const joinToken = readFileSync(path.join(dataDir, 'keys', 'join-token'), 'utf8').trim()
  return { kind: 'loopback', apiUrl, temporalAddress, joinToken }
}

async function invite({ api }: Stack, names: readonly string[]): Promise<WantedLink> {
  const made: { readonly name: string; readonly address: string; readonly token: string }[] = []
  for (const name of names) made.push(await api.one('inviteHosts', { body: { name } }))
  const [first] = made
  if (first === undefined) throw new Error('no host was invited')
  const place = asHostsAddress(first.address, 'the address')
  return { kind: 'tls', place, tokens: Object.fromEntries(made.map(({ name, token }) => [name, token])) }
}

/** Asks a process, which answers one question after the other. */
async function ask(child: ChildProcess, message: object): Promise<ReportedBeats> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('pretended hosts ended')))
  ended.catch(() => undefined)
  const answer = once(child, 'message')
  child.send(message)
  const [told] = (await Promise.race([answer, ended])) as [ReportedBeats]
  return told
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const late = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
  const exited = once(child, 'exit')
  child.send({ kind: 'stop' })
  await exited
  clearTimeout(late)
}
