import type { ImportImageInput } from '../../registry/import.ts'
import { baseAddress } from '../../client/client.ts'
import { CommandFailure } from '../command-failure.ts'
import { installationOf } from '../installation.ts'
import { bytesText } from '../output.ts'
import { withProgress } from '../progress.ts'
import type { CommandLine, Session } from '../session.ts'

interface PushOptions {
  readonly image?: string
  readonly registry?: string
}

export function addPushCommand({ program, session }: CommandLine): void {
  program
    .command('push <source> <name>')
    .description("put an image from disk into the installation's registry")
    .option('--image <name>', 'the image in the source, if there are several')
    .option('--registry <address>', 'the registry; default: the one that the API names')
    .addHelpText(
      'after',
      '\n<source> is an OCI layout (a directory or a tar archive) or an archive that `docker save` wrote.\n' +
        '<name> is <app>[:<tag>], or <user>/<app>[:<tag>].',
    )
    .action(async (source: string, name: string, options: PushOptions) =>
      push(await session(), source, name, options),
    )
}

async function push(session: Session, path: string, name: string, options: PushOptions): Promise<void> {
  const { access, client } = session
  const registryUrl = options.registry ?? access.registry ?? (await installationOf(client)).registry
  // What it needs is loaded here, because no other command has use for it.
  const { importImage } = await import('../../registry/import.ts')
  const { userNameIn } = await import('../account/user-name.ts')
  let progress = 'reads the image'
  const input: ImportImageInput = {
    path,
    name: name.includes('/') ? name : `${userNameIn(access.token)}/${name}`,
    registryUrl: /^https?:\/\//.test(registryUrl) ? registryUrl : `http://${registryUrl}`,
    tokenUrl: `${baseAddress(access.address)}/registry/token`,
    token: access.token,
    ...(options.image !== undefined && { imageInArchive: options.image }),
    onBlob: ({ number, count, size }) => (progress = `pushes part ${number} of ${count}, ${bytesText(size)}`),
  }
  const pushed = await withProgress(
    session,
    () => progress,
    async () =>
      importImage(input).catch((error: unknown) => {
        throw explained(error, path)
      }),
  )
  session.answer({ json: pushed, text: `${pushed.reference} is ${pushed.digest}` })
}

/** What is wrong with the archive, the registry or the network is told; anything else is a defect. */
function explained(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error
  const isExpected = /^(ImageArchiveError|RegistryError)$/.test(error.name) || 'code' in error
  return isExpected ? new CommandFailure(`${path}: ${error.message}`, { cause: error }) : error
}
