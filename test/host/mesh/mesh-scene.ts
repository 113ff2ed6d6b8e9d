import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Mesh } from '../../../src/host/mesh/mesh.ts'
import type { MeshMachine } from '../../../src/domain/host/mesh.ts'
import { meshInterfaceName } from '../../../src/host/network/address-plan.ts'
import { Commands } from '../../../src/host/network/commands.ts'
import { processesIn } from '../../support/namespace.ts'
import { until } from '../../support/until.ts'

const port = 51_820
/** The port of the servers that answer in every machine. */
export const servedPort = 7_000
/** A connection finds its way within a second; a change of keys takes WireGuard up to 5 s more. */
export const trafficLimitMs = 20_000

/** A program in a namespace, which says and hears lines. */
export class Program {
  readonly lines: string[] = []
  readonly child: ChildProcess

  constructor(namespace: string, program: string, ...args: readonly string[]) {
    const command = ['netns', 'exec', namespace, program, ...args]
    this.child = spawn('ip', command, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.child.stdin?.on('error', () => undefined)
    if (this.child.stdout !== null)
      createInterface(this.child.stdout).on('line', (line) => this.lines.push(line))
  }

  /** Resolves once the program has printed a line that begins with `start`. */
  async heard(start: string, limitMs = trafficLimitMs): Promise<string> {
    const look = () => this.lines.find((line) => line.startsWith(start))
    return await until(`a line '${start.slice(0, 80)}'`, look, { limitMs })
  }

  say(line: string): void {
    this.child.stdin?.write(`${line}\n`)
  }

  /** Whether what is said comes back within the time. */
  async echoes(line: string, limitMs = trafficLimitMs): Promise<boolean> {
    this.say(line)
    return await this.heard(line, limitMs).then(
      () => true,
      () => false,
    )
  }
}

/** One machine of the scene: a network namespace, a directory, and the mesh as its agent would keep it. */
export class SceneMachine {
  readonly namespace: string
  readonly directory: string
  readonly address: string
  readonly network: string
  /** An address in the machine's network, as an instance would have it. */
  readonly instance: string
  readonly endpoint: string
  readonly commands: Commands
  mesh: Mesh

  constructor(scene: string, index: number) {
    this.namespace = `${scene}-${String(index)}`
    this.directory = mkdtempSync(join(tmpdir(), 'roost-mesh-'))
    this.address = `10.64.${String(index * 16)}.1`
    this.instance = `10.64.${String(index * 16)}.9`
    this.network = `10.64.${String(index * 16)}.0/20`
    this.endpoint = `192.0.2.${String(index)}:${String(port)}`
    this.commands = new Commands(['ip', 'netns', 'exec', this.namespace])
    this.mesh = this.openMesh()
  }

  get interfaceName(): string {
    return meshInterfaceName(this.directory)
  }

  /** The options of the mesh that a file of JSON can hold. */
  get place(): { readonly directory: string; readonly address: string; readonly listenPort: number } {
    return { directory: this.directory, address: this.address, listenPort: port }
  }

  openMesh(): Mesh {
    return new Mesh({ ...this.place, commands: this.commands })
  }

  async member(): Promise<MeshMachine> {
    const { address, endpoint, network } = this
    return { address, endpoint, publicKey: await this.mesh.publicKey(), networks: [network] }
  }

  async run(...command: readonly string[]): Promise<string> {
    return await this.commands.run(command)
  }

  traffic(...args: readonly string[]): Program {
    return new Program(
      this.namespace,
      process.execPath,
      join(import.meta.dirname, 'traffic-program.ts'),
      ...args,
    )
  }

  /** Opens a connection from one of this machine's addresses to a server. */
  connect(to: string, from = this.address): Program {
    return this.traffic('connect', to, String(servedPort), from)
  }
}

/** Three machines on one wire. Each has a default route to a router that gets what no other route takes. */
export class MeshScene {
  readonly #name = `roost-mesh-${String(process.pid)}`
  readonly wire = `${this.#name}-wire`
  readonly machines: readonly SceneMachine[] = [1, 2, 3].map((index) => new SceneMachine(this.#name, index))
  readonly servers: Program[] = []
  readonly #namespaces: string[] = []

  /**
   * With `addresses` each machine has its addresses of the mesh at once, and a server. Without, they are left
   * to its network of instances.
   */
  async open({ addresses } = { addresses: true }): Promise<void> {
    this.addNamespace(this.wire)
    this.ip('-n', this.wire, 'link', 'add', 'wire', 'type', 'bridge')
    this.ip('-n', this.wire, 'addr', 'add', '192.0.2.254/24', 'dev', 'wire')
    this.ip('-n', this.wire, 'link', 'set', 'wire', 'up')
    for (const [index, machine] of this.machines.entries()) this.#addMachine(machine, index + 1, addresses)
    await Promise.all(this.servers.map(async (server) => await server.heard('ready')))
  }

  async close(): Promise<void> {
    for (const { mesh } of this.machines) await mesh.close()
    for (const name of this.#namespaces) {
      for (const pid of processesIn(name)) process.kill(pid, 'SIGKILL')
      this.ip('netns', 'del', name)
    }
    for (const { directory } of this.machines) rmSync(directory, { recursive: true, force: true })
  }

  /** What the API would tell every machine. */
  async members(): Promise<readonly MeshMachine[]> {
    return await Promise.all(this.machines.map(async (machine) => await machine.member()))
  }

  async connectAll(): Promise<void> {
    const members = await this.members()
    for (const { mesh } of this.machines) await mesh.apply(members)
  }

  /** Listens on the wire, and says for each text whether it was there in the clear. */
  listen(...texts: readonly string[]): Program {
    return new Program(this.wire, 'python3', '-u', '-c', listener, ...texts)
  }

  #addMachine(machine: SceneMachine, index: number, addresses: boolean): void {
    const { namespace, address, instance } = machine
    const host = String(index)
    this.addNamespace(namespace)
    this.ip('-n', this.wire, ...`link add m${host} type veth peer name up0 netns ${namespace}`.split(' '))
    this.ip('-n', this.wire, 'link', 'set', `m${host}`, 'master', 'wire', 'up')
    this.ip('-n', namespace, 'addr', 'add', `192.0.2.${host}/24`, 'dev', 'up0')
    this.ip('-n', namespace, 'link', 'set', 'up0', 'up')
    this.ip('-n', namespace, 'route', 'add', 'default', 'via', '192.0.2.254')
    if (!addresses) return
    for (const one of [address, instance]) this.ip('-n', namespace, 'addr', 'add', `${one}/32`, 'dev', 'lo')
    this.servers.push(machine.traffic('serve', String(servedPort)))
  }

  /** Adds a namespace that goes with the scene. */
  addNamespace(name: string): void {
    this.#namespaces.push(name)
    this.ip('netns', 'add', name)
    this.ip('-n', name, 'link', 'set', 'lo', 'up')
  }

  ip(...args: readonly string[]): void {
    execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  }
}

/** Reads every frame of every interface in its namespace. 3 is ETH_P_ALL. */
const listener = `
import socket, sys
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
print('ready')
while True:
    frame = wire.recv(65536)
    for text in sys.argv[1:]:
        if text.encode() in frame:
            print('saw', text)
`
