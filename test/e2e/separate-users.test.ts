import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'

const run = promisify(execFile)
/**
 * CAP_NET_BIND_SERVICE. The gateway needs it for public ports. The registry's owner has it so that the
 * registry, which is the same user, can not look into its process.
 */
const bindLowPorts = 1n << 10n

const separate = {
  postgres: { user: 'roost-postgres', capabilities: 0n },
  temporal: { user: 'roost-temporal', capabilities: 0n },
  registry: { user: 'roost-registry', capabilities: 0n },
  'registry-owner': { user: 'roost-registry', capabilities: bindLowPorts },
  api: { user: 'roost-api', capabilities: 0n },
  worker: { user: 'roost-worker', capabilities: 0n },
  gateway: { user: 'roost-gateway', capabilities: bindLowPorts },
} as const
type Separate = keyof typeof separate
const parts = Object.keys(separate) as readonly Separate[]

describe('the parts of a stack that root started', () => {
  let stack: Stack

  before(async function () {
    if (process.getuid?.() !== 0) this.skip()
    stack = await sharedStack()
  })

  for (const part of parts) {
    it(`run as users of their own without powers: ${part}`, async () => {
      const { user, capabilities } = separate[part]
      const status = readFileSync(`/proc/${stack.pidOf(part)}/status`, 'utf8')
      const field = (name: string) => new RegExp(`^${name}:\\s+(\\w+)`, 'm').exec(status)?.[1] ?? ''
      assert.equal(field('Uid'), (await run('id', ['-u', user])).stdout.trim())
      for (const set of ['CapEff', 'CapPrm', 'CapBnd']) {
        assert.equal(BigInt(`0x${field(set)}`), capabilities, set)
      }
      assert.equal(field('NoNewPrivs'), '1')
    })
  }

  for (const service of ['postgres', 'temporal', 'registry'] as const) {
    it(`know none of Roost's settings where they are other programs: ${service}`, () => {
      const environment = readFileSync(`/proc/${stack.pidOf(service)}/environ`, 'utf8').split('\0')
      const names = environment.map((line) => line.split('=')[0] ?? '').filter(Boolean)
      const surroundings = /^(PATH|HOME|LANG|LC_[A-Z]+|TZ|TMPDIR)$/
      // The shell that prepares the service's mounts adds the first two; the others are the service's own.
      const more = ['PWD', 'OLDPWD', 'REGISTRY_HTTP_SECRET', 'TEMPORAL_DISABLE_CONFIG_FILE']
      assert.ok(names.includes('PATH'))
      assert.deepEqual(
        names.filter((name) => !surroundings.test(name) && !more.includes(name)),
        [],
      )
    })
  }

  it('reach their own files, and none of another part', async () => {
    const { dataDir } = stack
    const file = (...names: readonly string[]) => path.join(dataDir, ...names)
    const readers: Readonly<Record<string, readonly Separate[]>> = {
      [file('keys', 'secret.key')]: ['api', 'worker'],
      // The worker asks gateways what they counted of a rollout.
      [file('keys', 'gateway-token')]: ['api', 'worker', 'gateway'],
      [file('keys', 'join-token')]: ['api'],
      [file('keys', 'registry.key')]: ['registry-owner', 'api'],
      [file('keys', 'postgres-password')]: [],
      [file('keys', 'postgres-app-password')]: [],
      [file('stack.json')]: [],
      [file('token')]: [],
      [file('agent', 'agent-secret')]: [],
      [file('postgres', 'PG_VERSION')]: ['postgres'],
      [file('temporal', 'temporal.db')]: ['temporal'],
      [file('registry', 'config.yml')]: ['registry', 'registry-owner'],
      // The environment holds the database's password.
      [`/proc/${stack.pidOf('registry-owner')}/environ`]: ['registry-owner'],
      [file('gateway', 'metro', 'roost.localhost', 'authority.pem')]: ['gateway'],
    }
    for (const [name, expected] of Object.entries(readers)) {
      const found: Separate[] = []
      for (const part of parts) if (await canRead(part, name)) found.push(part)
      assert.deepEqual(
        found,
        parts.filter((part) => expected.includes(part)),
        name,
      )
    }
  })

  it('connect to Temporal only if they have to, and nobody else does, a VM least of all', async () => {
    const { temporalAddress } = JSON.parse(readFileSync(path.join(stack.dataDir, 'stack.json'), 'utf8')) as {
      temporalAddress: string
    }
    const uidOfSomeVm = String(0x4000_0123)
    const connects = async (user: string, address: string) => {
      const [host, port] = address.split(':')
      const command = ['timeout', '5', 'bash', '-c', `exec 3<>/dev/tcp/${host}/${port}`]
      return succeeds('setpriv', ['--reuid', user, '--regid', '65534', '--clear-groups', '--', ...command])
    }
    const users = [...parts.map((part) => separate[part].user), 'nobody', uidOfSomeVm]
    const ui = new URL(stack.temporalUiUrl).host
    const found = await Promise.all(
      users.map(async (user) => [user, await connects(user, temporalAddress), await connects(user, ui)]),
    )
    const allowed: readonly string[] = ['roost-api', 'roost-worker', 'roost-temporal']
    assert.deepEqual(
      found,
      users.map((user) => [user, allowed.includes(user), false]),
    )
    assert.ok(await connects('root', temporalAddress))
    assert.ok(await connects('root', ui))
  })

  /** Tells whether the part, with its user and groups, can read the file. */
  async function canRead(part: Separate, file: string): Promise<boolean> {
    const pid = String(stack.pidOf(part))
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const [gid] = /^Gid:\s+(\d+)/m.exec(status)?.slice(1) ?? []
    const groups = /^Groups:\t(.*)$/m.exec(status)?.[1]?.trim().split(' ').filter(Boolean) ?? []
    const become = ['--reuid', separate[part].user, '--regid', String(gid)]
    const groupOption = groups.length === 0 ? ['--clear-groups'] : ['--groups', groups.join(',')]
    const kept = separate[part].capabilities === 0n ? '' : ',+net_bind_service'
    const drop = [
      `--inh-caps=-all${kept}`,
      `--ambient-caps=-all${kept}`,
      `--bounding-set=-all${kept}`,
      '--no-new-privs',
    ]
    return succeeds('nsenter', [
      '-t',
      pid,
      '-m',
      'setpriv',
      ...become,
      ...groupOption,
      ...drop,
      'head',
      '-c1',
      file,
    ])
  }

  async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
    return run(program, args).then(
      () => true,
      () => false,
    )
  }
})
