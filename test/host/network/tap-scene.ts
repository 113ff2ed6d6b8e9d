import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { planAddresses, tapName } from '../../../src/host/network/address-plan.ts'
import type { AddressPlan } from '../../../src/host/network/address-plan.ts'
import { Commands } from '../../../src/host/network/commands.ts'
import type { TapNetworkOptions } from '../../../src/host/network/tap-network.ts'

/** The address of a machine outside the host, and the host's own address there. */
export const outsideAddress = '203.0.113.2'
export const hostOutsideAddress = '203.0.113.1'

/**
 * The network namespaces of a test: one for the host, one for the outside, and one for each VM that sends
 * packets. No packet leaves these namespaces.
 */
export class TapScene {
  readonly host: string
  readonly directory = '/test/agent'
  readonly subnet = '10.64.0.0/16'
  readonly plan: AddressPlan
  readonly warnings: string[] = []
  readonly #namespaces: string[] = []
  #holder: ReturnType<typeof spawn> | undefined

  constructor(name: string) {
    this.host = `roost-${name}-${String(process.pid)}`
    this.plan = planAddresses({ directory: this.directory, subnet: this.subnet })
  }

  get outside(): string {
    return `${this.host}-outside`
  }

  /** The options for a `TapNetwork` of this host. */
  get options(): TapNetworkOptions & { readonly netDevPath: string } {
    return {
      directory: this.directory,
      subnet: this.subnet,
      commands: this.commandsIn(this.host),
      netDevPath: this.procNet('dev'),
      warn: (message) => this.warnings.push(message),
    }
  }

  async open(): Promise<void> {
    this.addNamespace(this.host)
    // The counters are read through a process that lives in the namespace.
    const holder = spawn('ip', ['netns', 'exec', this.host, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    holder.stdin.write('ready\n')
    await once(holder.stdout, 'data')
    this.#holder = holder
  }

  close(): void {
    this.#holder?.stdin?.end()
    for (const name of this.#namespaces.splice(0)) this.ip('netns', 'del', name)
  }

  /** The path of a file of /proc/net, as the host's namespace sees it. */
  procNet(file: string): string {
    return `/proc/${String(this.#holder?.pid)}/net/${file}`
  }

  ip(...args: string[]): void {
    execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  }

  addNamespace(name: string): void {
    this.ip('netns', 'add', name)
    this.#namespaces.push(name)
    this.ip('-n', name, 'link', 'set', 'lo', 'up')
  }

  commandsIn(namespace: string): Commands {
    return new Commands(['ip', 'netns', 'exec', namespace])
  }

  async inHost(...command: string[]): Promise<string> {
    return await this.commandsIn(this.host).run(command)
  }

  /**
   * Adds the outside: a network behind an uplink of the host, which instances may or may not reach.
   */
  addOutside(addresses: readonly string[] = []): void {
    const { host, outside } = this
    this.addNamespace(outside)
    this.ip('-n', host, 'link', 'add', 'up0', 'type', 'veth', 'peer', 'name', 'up0', 'netns', outside)
    for (const [name, address] of [
      [host, hostOutsideAddress],
      [outside, outsideAddress],
    ] as const) {
      this.ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'up0')
      this.ip('-n', name, 'link', 'set', 'up0', 'up')
    }
    for (const address of addresses) this.ip('-n', outside, 'addr', 'add', `${address}/32`, 'dev', 'lo')
    this.ip('-n', host, 'route', 'add', 'default', 'via', outsideAddress)
  }

  /**
   * Adds a VM: a namespace, and a pair of interfaces instead of a TAP. The host's end has the TAP's name,
   * the other end is the VM's interface. Returns the namespace.
   */
  addVm(name: string, nic: { readonly ip: string; readonly seat?: string; readonly mac: string }): string {
    const namespace = `${this.host}-${name}`
    this.addNamespace(namespace)
    const tap = tapName(this.plan, nic)
    this.ip('-n', this.host, 'link', 'add', tap, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    this.ip('-n', namespace, 'link', 'set', 'eth0', 'address', nic.mac)
    this.ip('-n', namespace, 'addr', 'add', `${nic.ip}/16`, 'dev', 'eth0')
    this.ip('-n', namespace, 'link', 'set', 'eth0', 'up')
    this.ip('-n', namespace, 'route', 'add', 'default', 'via', this.plan.hostAddress)
    return namespace
  }
}
