import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * The facts about this host that a VMM depends on. A template, a snapshot or the verdict about KVM is of use
 * only while the facts behind it stay the same.
 */
export interface HostFacts {
  readonly qemuPath: string
  readonly qemuVersion: string
  readonly bootId: string
  /**
   * The frequency of the time stamp counter, which an emulated guest is told because measuring it may hang.
   */
  readonly tscKhz: number
  readonly isRoot: boolean
  /**
   * The host's processor. Under KVM a guest sees this model, and a snapshot may need a feature that another
   * model does not have.
   */
  readonly cpuModel: string
}

export const defaultQemuPath = '/usr/bin/qemu-system-x86_64'

export async function readHostFacts(qemuPath: string = defaultQemuPath): Promise<HostFacts> {
  const { stdout } = await promisify(execFile)(qemuPath, ['--version'])
  const cpuinfo = await readFile('/proc/cpuinfo', 'utf8')
  return {
    qemuPath,
    qemuVersion: stdout.split('\n')[0] ?? '',
    bootId: await readHostBootId(),
    tscKhz: parseTscKhz(cpuinfo),
    cpuModel: cpuinfo.match(/^model name\s*:\s*(.*)$/m)?.[1] ?? '',
    isRoot: process.geteuid?.() === 0,
  }
}

export async function readHostBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
}

/** Linux derives bogomips from the counter's frequency: twice the MHz. */
export function parseTscKhz(cpuinfo: string): number {
  const bogomips = cpuinfo.match(/^bogomips\s*:\s*([\d.]+)/m)?.[1]
  if (bogomips === undefined) throw new Error('/proc/cpuinfo has no bogomips')
  return Math.round(Number(bogomips) * 500)
}
