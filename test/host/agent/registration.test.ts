import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError } from '../../../src/host/agent/api-client.ts'
import { loadAgentSecret, Registration } from '../../../src/host/agent/registration.ts'
import { until } from '../../support/until.ts'

describe('the registration of a host', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-registration-'))
  })
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  const assignment = { nodeId: 'local', subnet: '10.70.0.0/16' }
  const other = { nodeId: 'local', subnet: '10.71.0.0/16' }

  it('asks the API if the file of the assignment is damaged, and reports the file', async () => {
    const file = join(directory, 'assignment.json')
    for (const text of ['{"nodeId":"local","sub', '[]', 'null', '{"nodeId":"local"}']) {
      await writeFile(file, text)
      const { registration, complaints } = register([assignment])
      assert.deepEqual(await registration.assignment(), assignment)
      assert.deepEqual(complaints, ['the file holds no assignment of a network: the API is asked for it'])
      assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), assignment)
    }
  })

  /**
   * Makes a registration whose API gives the `answers` in turn. Undefined means that the API is away, a
   * number that it refuses with this status. The last answer is given for all further requests.
   */
  function register(
    answers: readonly (typeof assignment | number | undefined)[],
    { isJoined = false } = {},
  ): {
    registration: Registration
    reassigned: Promise<string>
    refused: Promise<void>
    complaints: string[]
    full: boolean[]
  } {
    let calls = 0
    let tell: (subnet: string) => void
    const reassigned = new Promise<string>((resolve) => (tell = resolve))
    let refuse: () => void
    const refused = new Promise<void>((resolve) => (refuse = resolve))
    const complaints: string[] = []
    const full: boolean[] = []
    const registration = new Registration({
      agentDirectory: directory,
      nodeId: 'local',
      isJoined,
      send: async () => {
        const answer = answers[Math.min(calls, answers.length - 1)]
        calls += 1
        if (answer === undefined) throw new Error('the API is away')
        if (typeof answer === 'number') throw new ApiError('refused', { status: answer })
        return await Promise.resolve(answer)
      },
      describe: async (isFull) => {
        full.push(isFull)
        return await Promise.resolve({
          agentUrl: '',
          agentSecret: '',
          accelerator: 'fake',
          memoryMb: 1,
          volumeMb: 2,
          imageBytes: {},
          occupiedSubnets: [],
          version: '',
        })
      },
      onReassigned: ({ subnet }) => {
        tell(subnet)
      },
      onRefused: () => {
        refuse()
      },
      pauses: { intervalMs: 1, retryMs: 1 },
      log: {
        info: () => undefined,
        error: () => undefined,
        warn: (_, message) => void complaints.push(message),
      },
    })
    return { registration, reassigned, refused, complaints, full }
  }

  it('waits for its first assignment and keeps it for agents that start while the API is away', async () => {
    assert.deepEqual(await register([undefined, assignment]).registration.assignment(), assignment)
    assert.deepEqual(await register([undefined]).registration.assignment(), assignment)
  })

  it('says all that it can at first, after a failure, and at every fifth heartbeat', async () => {
    const { registration, full } = register([
      ...Array.from({ length: 7 }, () => assignment),
      undefined,
      assignment,
    ])
    registration.start()
    const expected = [true, false, false, false, false, true, false, false, true, false, false, false]
    await until('so many heartbeats are sent', async () => full.length >= expected.length, {
      limitMs: 10_000,
    })
    registration.stop()
    assert.deepEqual(full.slice(0, expected.length), expected)
  })

  it('reports an assignment that differs from the one in use', async () => {
    await register([assignment]).registration.assignment()
    const { registration, reassigned } = register([other])
    await registration.assignment()
    registration.start()
    assert.equal(await reassigned, other.subnet)
    registration.stop()
    assert.deepEqual(await register([undefined]).registration.assignment(), other)
  })

  it('says once what to do if its id belongs to another host, and joins when it was admitted', async () => {
    const { registration, complaints } = register([undefined, undefined, 401, 403, 403, assignment])
    assert.deepEqual(await registration.assignment(), assignment)
    assert.equal(complaints.length, 3)
    assert.match(complaints[0] ?? '', /does not answer/)
    assert.match(complaints[1] ?? '', /ROOST_JOIN_TOKEN_FILE/)
    assert.match(complaints[2] ?? '', /ROOST_NODE_ID.*roost admin node release local/)
  })

  it('says what to do if its certificate is that of another host', async () => {
    const { registration, complaints } = register([403, assignment], { isJoined: true })
    await registration.assignment()
    assert.equal(complaints.length, 1)
    assert.match(
      complaints[0] ?? '',
      /does not take this machine as host 'local': .*`npx roost join`.*`roost admin node release local`$/,
    )
  })

  it('ends an agent whose id belongs to another host by now', async () => {
    await register([assignment]).registration.assignment()
    const { registration, refused } = register([undefined, 403])
    await registration.assignment()
    registration.start()
    await refused
    registration.stop()
  })

  it('has one secret for as long as its directory, which nobody else can read', async () => {
    const secret = await loadAgentSecret(directory)
    assert.match(secret, /^[\w-]{43}$/)
    assert.equal(await loadAgentSecret(directory), secret)
    const path = join(directory, 'agent-secret')
    assert.equal(await readFile(path, 'utf8'), secret)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  })

  it('does not make a second secret if the first can not be read', async () => {
    await mkdir(join(directory, 'agent-secret'))
    await assert.rejects(loadAgentSecret(directory), { code: 'EISDIR' })
  })
})
