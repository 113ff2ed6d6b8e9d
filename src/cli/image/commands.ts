import type { Command } from 'commander'
import type { CliDeps, ImageToStore } from '../cli-deps.ts'
import { answer } from '../output.ts'
import type { OutputOptions } from '../output.ts'

const sourceHelp = `
<source> is an OCI layout (a directory or a tar archive) or an archive that \`docker save\` wrote.`

export function addImageCommands(program: Command, deps: CliDeps): void {
  const image = program.command('image').description("images in the stack's registry")
  image
    .command('import <source> <name>')
    .description(
      'put an image from disk into the registry of the stack on this machine, as its administrator',
    )
    .addHelpText('after', `${sourceHelp}\n<name> is official/<app>[:<tag>] or admin/<app>[:<tag>].`)
    .option('--image <name>', 'the image in the source, if there are several')
    .option('--json', 'answer in JSON')
    .action((path: string, name: string, options: ImportOptions) =>
      store(deps, { path, name, as: 'administrator', ...imageOf(options) }, options),
    )
  image
    .command('push <source> <name>')
    .description("put an image from disk into the registry with a user's own token")
    .addHelpText(
      'after',
      `${sourceHelp}\n<name> is <user>/<app>[:<tag>]. Without --token-file the token is read from UKC_TOKEN.`,
    )
    .option('--token-file <path>', "file with the user's token")
    .option('--image <name>', 'the image in the source, if there are several')
    .option('--json', 'answer in JSON')
    .action((path: string, name: string, options: PushOptions) => {
      const { tokenFile } = options
      const as = tokenFile === undefined ? {} : { tokenFile }
      return store(deps, { path, name, as, ...imageOf(options) }, options)
    })
}

type ImportOptions = OutputOptions & { readonly image?: string }
type PushOptions = ImportOptions & { readonly tokenFile?: string }

function imageOf({ image }: ImportOptions): Pick<ImageToStore, 'imageInArchive'> {
  return image === undefined ? {} : { imageInArchive: image }
}

async function store(deps: CliDeps, image: ImageToStore, options: OutputOptions): Promise<void> {
  const stored = await deps.images.store(image)
  answer(deps, options, { json: stored, text: `${stored.reference} is ${stored.digest}` })
}
