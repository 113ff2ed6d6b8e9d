import { stat, lstat } from 'node:fs/promises'
import { PassThrough, Readable, Writable } from 'node:stream'
import { visibleText } from '../../domain/plain-text.ts'
import { CommandFailure } from '../command-failure.ts'
import { usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { packFiles } from './copy-pack.ts'
import { copyPlace } from './copy-place.ts'
import type { CopyPlace } from './copy-place.ts'
import { unpackArchive } from './copy-unpack.ts'
import { openExec } from './exec-socket.ts'
import { ExecTalk } from './exec-talk.ts'

interface CopyOptions {
  readonly archive?: true
  readonly followLink?: true
}
type InstancePlace = Extract<CopyPlace, { kind: 'instance' }>
type OtherPlace = Exclude<CopyPlace, InstancePlace>

/**
 * The code of what SIGKILL has ended; in a guest nobody but the kernel kills a copy, where memory ran
 * out.
 */
const killed = 137
/** The longest line of a guest that is shown. */
const maxLineLength = 4_096

export function addCopyCommand({ program, session }: CommandLine): void {
  program
    .command('cp <from> <to>')
    .description('copy files and directories from an instance or to it')
    .usage('[options] <instance>:<path> <path>|-\n       roost cp [options] <path>|- <instance>:<path>')
    .option('-a, --archive', 'keep the numbers of the owners; default: the files belong to who writes them')
    .option('-L, --follow-link', 'if <from> is a symbolic link, copy what it leads to')
    .addHelpText(
      'after',
      '\nInto a directory that is there, a copy goes by its own name; else <to> is its name. <from> that ends with /. stands' +
        '\nfor what is in a directory. - is a tar archive on standard input or output.',
    )
    .action(async (from: string, to: string, options: CopyOptions) => {
      const [source, target] = [copyPlace(from), copyPlace(to)]
      if (source.kind === 'instance' && target.kind !== 'instance')
        await copyFrom(await session(), { from: source, to: target, options })
      else if (source.kind !== 'instance' && target.kind === 'instance')
        await copyTo(await session(), { from: source, to: target, options })
      else throw usage('exactly one side of a copy is <instance>:<path>')
    })
}

async function copyFrom(
  session: Session,
  {
    from,
    to,
    options,
  }: { readonly from: InstancePlace; readonly to: OtherPlace; readonly options: CopyOptions },
): Promise<void> {
  const { deps, access } = session
  const start = { type: 'pack', path: from.path, follow: options.followLink === true } as const
  if (to.kind === 'stream' && deps.terminal.size() !== undefined)
    throw usage('an archive is not for a terminal: send it on to a file or a program')
  const socket = await openExec(access, from.instance, 'archive')
  if (to.kind === 'stream') {
    const terminal = endsOf(session, Readable.from([]), deps.terminal.output)
    return judge(await new ExecTalk(socket, { ...deps, terminal }).run(start))
  }
  const archive = new PassThrough()
  const target = { from: from.path, to: to.path, owners: options.archive === true }
  const unpacked = unpackArchive(archive, target).catch((error: unknown) => {
    socket.terminate()
    archive.resume()
    throw error
  })
  const talk = new ExecTalk(socket, { ...deps, terminal: endsOf(session, Readable.from([]), archive) })
  const talked = talk.run(start).then(
    (code) => {
      archive.end()
      return code
    },
    (error: unknown) => {
      archive.destroy()
      throw error
    },
  )
  // Whichever fails first is the reason for the failure of the other.
  const [code] = await Promise.all([talked, unpacked])
  judge(code)
}

async function copyTo(
  session: Session,
  {
    from,
    to,
    options,
  }: { readonly from: OtherPlace; readonly to: InstancePlace; readonly options: CopyOptions },
): Promise<void> {
  const { deps, access } = session
  const isStream = from.kind === 'stream'
  if (!isStream) await checkSource(from.path, options)
  const socket = await openExec(access, to.instance, 'archive')
  const packed = isStream
    ? { archive: deps.terminal.input, complete: Promise.resolve(true) }
    : packFiles(from.path, { follow: options.followLink === true, note: deps.note })
  let failure: unknown
  packed.complete.catch((error: unknown) => {
    failure ??= error
    socket.terminate()
  })
  const talk = new ExecTalk(socket, { ...deps, terminal: endsOf(session, packed.archive, nowhere()) })
  const { archive: owners = false } = options
  const code = await talk
    .run({ type: 'unpack', path: to.path, extract: isStream, owners })
    .catch((error: unknown) => {
      throw failure ?? error
    })
  judge(code)
  if (!(await packed.complete)) throw new CommandFailure('not everything was copied')
}

async function checkSource(source: string, { followLink }: CopyOptions): Promise<void> {
  try {
    await (followLink ? stat(source) : lstat(source))
  } catch (cause) {
    throw new CommandFailure(`${source} can not be copied: ${(cause as Error).message}`, { cause })
  }
}

function judge(code: number): void {
  if (code === killed)
    throw new CommandFailure(
      'the copy was killed: the memory of the instance is full, and files that are on no volume are in it;' +
        ' give it more memory, or a volume for them',
    )
  if (code !== 0) throw new CommandFailure('not everything was copied')
}

/**
 * The streams of a copy in place of a terminal. Lines of the instance are shown without what could steer
 * one.
 */
function endsOf({ deps }: Session, input: Readable, output: Writable) {
  let line = ''
  const tell = () => {
    if (line !== '') deps.note(`roost: ${visibleText(line)}\n`)
    line = ''
  }
  const errorOutput = new Writable({
    write(piece: Buffer, _encoding, done) {
      for (const text of piece.toString('utf8').split(/(?<=\n)/)) {
        line = (line + text.replace(/\n$/, '')).slice(0, maxLineLength)
        if (text.endsWith('\n')) tell()
      }
      done()
    },
  })
  return { input, output, errorOutput, setRaw: () => undefined, onResize: () => () => undefined }
}

function nowhere(): Writable {
  return new Writable({ write: (_piece, _encoding, done) => done() })
}
