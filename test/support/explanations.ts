import { strict as assert } from 'node:assert'
import type { CliDeps } from '../../src/cli/cli-deps.ts'
import { runCli } from '../../src/cli/program.ts'
import type { TestApi } from './api-server.ts'

/**
 * What `roost` writes to both of its outputs, with the database of an API and the same answers of hosts and
 * workflows. The command and the API have to explain an object in the same words.
 */
export async function roostBeside(api: TestApi, args: readonly string[]): Promise<string> {
  let written = ''
  const write = (text: string): void => void (written += text)
  const deps: CliDeps = {
    write,
    note: write,
    withDatabase: (work) => work(api.database),
    withControl: (work) =>
      work({
        instances: api.control,
        volumes: api.volumeControl,
        certificates: api.certificateControl,
        autoscales: api.autoscaleControl,
      }),
    async readHostLease(_database, { uuid, nodeId }) {
      return api.nodes.fails === undefined ? api.nodes.leases.get(uuid) : `host ${nodeId} does not answer`
    },
    images: { store: () => assert.fail() },
    doctor: () => assert.fail(),
    platform: { dataDir: '/nowhere', halt: () => assert.fail() },
    domainProof: { isAsked: false, tokens: () => assert.fail(), textsOf: () => assert.fail() },
    authority: { file: undefined, metroDomain: 'metro.test', customDomains: () => assert.fail() },
  }
  assert.equal(await runCli(args, deps), 0, written)
  return written
}

/** The answer of the API as text, which has to be there. */
export async function explainedText(
  api: TestApi,
  call: { readonly path: string; readonly token: string },
): Promise<string> {
  const answer = await api.send({ ...call, headers: { accept: 'text/plain' } })
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/plain; charset=utf-8'])
  return answer.text
}
