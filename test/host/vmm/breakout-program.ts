import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import path from 'node:path'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { tapAttachment } from './guest-shell.ts'
import type { QemuBench } from './qemu-bench.ts'

const source = path.join(import.meta.dirname, 'breakout.c')

/** The kinds of things that the program tries. Each line that it reports begins with one of these words. */
export const breakoutTries = [
  'connection',
  'socket',
  'file',
  'write',
  'signal',
  'trace',
  'sight',
  'memory',
  'power',
] as const

/**
 * A program that runs in place of QEMU, like a guest that has taken over its VMM. It tries to reach servers,
 * files, processes and memory of this host, and a VM that runs beside it. This class makes those, too.
 */
export class BreakoutProgram {
  readonly path: string
  readonly #close: () => void

  private constructor(program: string, close: () => void) {
    this.path = program
    this.#close = close
  }

  /**
   * Compiles the program, which reports to `reportFd`. Like the real VMM it is in a directory that everybody
   * may enter, with a setuid program beside it.
   */
  static async make(options: {
    readonly bench: QemuBench
    readonly other: VmSpec
    readonly reportFd: number
  }): Promise<BreakoutProgram> {
    const { bench, other, reportFd } = options
    const name = randomUUID().slice(0, 8)
    const servers: Server[] = []
    const tcp = await listen({ port: 0, host: '0.0.0.0' }, servers)
    await listen({ path: `\0roost-test-${name}` }, servers)
    const segment = execFileSync('ipcmk', ['-M', '4096', '-p', '0666'], { encoding: 'utf8' })
    const segmentId = (segment.split(': ')[1] ?? '').trim()
    const directory = `/var/tmp/roost-breakout-${name}`
    const open = `/tmp/roost-open-${name}`
    const written = `roost-written-${name}`
    mkdirSync(directory)
    writeFileSync(open, 'for everybody')
    const setuidProgram = path.join(directory, 'id')
    copyFileSync('/usr/bin/id', setuidProgram)
    chmodSync(setuidProgram, 0o4755)
    const directories = ['/', '/tmp', '/dev', '/dev/shm', '/usr', '/var/tmp', directory]
    const processes = {
      agent: process.pid,
      'other-keeper': await bench.pidOf(other, 'keeper'),
      'other-vmm': await bench.pidOf(other, 'qemu'),
    }
    const program = path.join(directory, 'breakout')
    compile(program, {
      REPORT_FD: reportFd,
      PORT: (tcp.address() as AddressInfo).port,
      GATEWAY: text(tapAttachment.gateway),
      ABSTRACT: text(`roost-test-${name}`),
      FILES: [...filesOfHost(bench, other), open].map(text).join(),
      DIRECTORIES: directories.map(text).join(),
      WRITTEN: text(written),
      PROCESSES: Object.entries(processes)
        .map(([which, pid]) => `{${text(which)}, ${pid}}`)
        .join(),
      SEGMENT: segmentId,
      SETUID_PROGRAM: text(setuidProgram),
    })
    return new BreakoutProgram(program, () => {
      for (const server of servers) server.close()
      execFileSync('ipcrm', ['-m', segmentId])
      const leavings = [directory, open, ...directories.map((one) => path.join(one, written))]
      for (const place of leavings) rmSync(place, { force: true, recursive: true })
    })
  }

  /** The processes that run the program. */
  running(): readonly number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          return readlinkSync(`/proc/${pid}/exe`) === this.path
        } catch {
          return false
        }
      })
  }

  close(): void {
    for (const pid of this.running()) process.kill(pid, 'SIGKILL')
    this.#close()
  }
}

function filesOfHost(bench: QemuBench, other: VmSpec): readonly string[] {
  const ofSystem = ['/root', '/home', '/etc/passwd', '/etc/shadow', '/var/log', '/run', '/sys']
  const ofKernel = ['/proc/meminfo', '/proc/sys/kernel/hostname']
  const devices = ['net/tun', 'mem', 'kmsg', 'vda', 'tty', 'ptmx'].map((name) => `/dev/${name}`)
  const ofRoost = [bench.directory, other.directory, path.join(other.directory, 'vm/keeper.sock')]
  return [...ofSystem, ...ofKernel, ...devices, ...ofRoost, import.meta.dirname]
}

async function listen(at: object, servers: Server[]): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(at)
  servers.push(server)
  await once(server, 'listening')
  return server
}

function compile(output: string, defines: Readonly<Record<string, string | number>>): void {
  const flags = Object.entries(defines).map(([name, value]) => `-D${name}=${value}`)
  execFileSync('musl-gcc', ['-D_GNU_SOURCE', '-Wall', '-Werror', '-static', ...flags, '-o', output, source])
}

/** The text as a string of C. */
function text(value: string): string {
  return JSON.stringify(value)
}
