import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { registryConfig } from '../../registry/registry-config.ts'
import { canConfine, confine } from '../parts/part-confinement.ts'
import type { Confinement } from '../parts/part-confinement.ts'
import type { Part } from '../parts/part.ts'
import { ensureUser, giveTree, PartUser } from '../parts/part-users.ts'
import { untilAnswers } from '../readiness.ts'

export interface EmbeddedRegistry {
  /** The program of Debian's docker-registry. */
  readonly program: string
  readonly directory: string
  readonly port: number
  /** The API's address as clients reach it; they get their tokens there. */
  readonly apiUrl: string
  readonly certificateFile: string
  /**
   * The secret with which the registry signs the state of uploads. It stays the same, so that uploads that
   * are under way stay valid over a restart.
   */
  readonly httpSecret: string
}

/**
 * The registry as a part. It trusts tokens that the API signs, and tells a client without one where to get
 * it.
 */
export async function registryPart(options: EmbeddedRegistry): Promise<Part> {
  const configFile = path.join(options.directory, 'config.yml')
  const confinement = await confinementOf(options)
  return {
    name: 'registry',
    program: options.program,
    args: ['serve', configFile],
    env: { REGISTRY_HTTP_SECRET: options.httpSecret },
    confinement,
    givesWay: true,
    stopSignal: 'SIGTERM',
    stopLimitMs: 2_000,
    async prepare() {
      await mkdir(path.join(options.directory, 'storage'), { recursive: true })
      // The registry makes files that everybody can read, but most images are only for their user.
      await chmod(options.directory, 0o700)
      await writeFile(
        configFile,
        registryConfig({
          storageDirectory: path.join(options.directory, 'storage'),
          address: `127.0.0.1:${options.port}`,
          realm: `${options.apiUrl}/registry/token`,
          certificateFile: options.certificateFile,
          // At a less severe level the registry would log each request without a token, and each login
          // begins with such a request.
          logLevel: 'error',
        }),
      )
      if (confinement !== undefined) await giveTree(options.directory, confinement.user)
    },
    // 401 is the healthy answer to a client without a token.
    ready: (signal) => untilAnswers(`http://127.0.0.1:${options.port}/v2/`, signal, [200, 401]),
  }
}

async function confinementOf(options: EmbeddedRegistry): Promise<Confinement | undefined> {
  if (!canConfine()) return undefined
  const { program, directory, certificateFile } = options
  const user = await ensureUser(PartUser.Registry)
  return confine({ user, program, reads: [], own: [directory, certificateFile] })
}
