/**
 * The messages of what a user does in an instance: run a program, copy files, connect to a port. They are
 * those of a WebSocket: between a client and the API, and between the API and the host's agent alike
 * (`GET
 * /instances/<uuid>/exec` with the agent's secret). A binary message carries bytes, after one byte that
 * names the stream. A text message is JSON.
 *
 * The client's first message says what is to be done. A copy is like a program: `pack` prints a tar
 * archive, and `unpack` reads one. When the program has ended and all its output is sent, `exit` follows
 * and the host closes with 1000. If the client closes before that, the program's processes are ended.
 */
export const ExecStream = { Input: 0, Output: 1, ErrorOutput: 2 } as const
export type ExecStream = (typeof ExecStream)[keyof typeof ExecStream]

/** What comes first. */
export type ExecStart =
  | {
      readonly type: 'run'
      readonly argv: readonly string[]
      readonly terminal?: ExecTerminal
      /** The terminal's type, for the variable TERM. */
      readonly term?: string
    }
  /** Relative paths begin at the application's working directory. */
  | {
      readonly type: 'pack'
      readonly path: string
      /** If the path is a symbolic link, what it stands for is copied. */
      readonly follow?: boolean
    }
  | {
      readonly type: 'unpack'
      readonly path: string
      /**
       * All entries go below the path, which is a directory. Otherwise the first entry decides, as for
       * `cp`.
       */
      readonly extract?: boolean
      readonly owners?: boolean
    }
  | { readonly type: 'connect'; readonly port: number }

export type ExecCommand =
  | ExecStart
  | ({ readonly type: 'resize' } & ExecTerminal)
  | { readonly type: 'signal'; readonly signal: number }
  | { readonly type: 'end_of_input' }

export interface ExecTerminal {
  readonly rows: number
  readonly columns: number
}

export type ExecNews =
  | { readonly type: 'started' }
  /** Of a connection: the application sends no more. What it is sent still reaches it. */
  | { readonly type: 'output_ended' }
  | { readonly type: 'exit'; readonly code: number }
  | { readonly type: 'exit'; readonly signal: number }
  /**
   * The program can not be run: 127 if it is not there, 126 if it can not be executed, else 125. Or the
   * connection is not accepted: 126.
   */
  | { readonly type: 'failed'; readonly code: number; readonly message: string }

/** Why a connection was closed before the program ended. The close frame has the reason as text, too. */
export const ExecClose = {
  Done: 1000,
  /** The process at the other end stops. */
  GoingAway: 1001,
  /** The token is not valid any more. */
  NoAccess: 1008,
  /** The instance can not run programs at all, or not this one. */
  Unable: 4000,
  NotRunning: 4001,
  /** As many sessions are open as may be. */
  Busy: 4002,
  /** The instance, or the connection to it, ended while the program ran. */
  Lost: 4003,
  /** A message was not sound. */
  Unsound: 4004,
  HostUnreachable: 4005,
  TimedOut: 4006,
} as const
export type ExecClose = (typeof ExecClose)[keyof typeof ExecClose]

/** The most bytes of a message. One with output has 4 KiB at most, one with input may have 64 KiB. */
export const maxExecMessageBytes = 64 * 1024 + 1
export const maxExecArguments = 1_024
/** The rows and columns of a terminal are numbers of 16 bits. */
const maxTerminalSide = 0xffff
const maxTermLength = 64
const maxSignal = 31
/** The longest path of Linux, without its NUL. */
export const maxPathBytes = 4_095
const maxPort = 65_535

export function isExecStart(command: ExecCommand): command is ExecStart {
  return !['resize', 'signal', 'end_of_input'].includes(command.type)
}

/** Reads a client's text message. Returns a sentence about what is wrong with it if something is. */
export function execCommand(text: string): ExecCommand | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'a text message must be JSON'
  }
  if (typeof value !== 'object' || value === null) return 'a text message must be a JSON object'
  const given = value as Readonly<Record<string, unknown>>
  switch (given['type']) {
    case 'run':
      return runCommand(given)
    case 'pack':
      return packCommand(given)
    case 'unpack':
      return unpackCommand(given)
    case 'connect': {
      const { port } = given
      return isWhole(port, maxPort) && port > 0
        ? { type: 'connect', port }
        : `'port' must be a whole number from 1 to ${String(maxPort)}`
    }
    case 'resize': {
      const size = terminalOf(given)
      return size === undefined ? sizeSentence : { type: 'resize', ...size }
    }
    case 'signal': {
      const { signal } = given
      return isWhole(signal, maxSignal) && signal > 0
        ? { type: 'signal', signal }
        : `'signal' must be a whole number from 1 to ${String(maxSignal)}`
    }
    case 'end_of_input':
      return { type: 'end_of_input' }
    default:
      return "'type' must be one of run, pack, unpack, connect, resize, signal, end_of_input"
  }
}

const sizeSentence = `'rows' and 'columns' must be whole numbers from 0 to ${String(maxTerminalSide)}`

function runCommand({ argv, terminal, term }: Readonly<Record<string, unknown>>): ExecCommand | string {
  if (!isArguments(argv))
    return `'argv' must be a list of 1 to ${String(maxExecArguments)} texts without NUL; the first one names the program`
  if (
    term !== undefined &&
    !(typeof term === 'string' && term.length <= maxTermLength && /^[\w.+-]+$/.test(term))
  )
    return `'term' must be the name of a terminal of at most ${String(maxTermLength)} characters`
  const size = terminal === undefined ? undefined : terminalOf(terminal)
  if (terminal !== undefined && size === undefined) return `in 'terminal', ${sizeSentence}`
  return {
    type: 'run',
    argv,
    ...(size === undefined ? {} : { terminal: size }),
    ...(term === undefined ? {} : { term }),
  }
}

function packCommand({ path, follow = false }: Readonly<Record<string, unknown>>): ExecCommand | string {
  if (!isPath(path)) return pathSentence
  return typeof follow === 'boolean' ? { type: 'pack', path, follow } : "'follow' must be true or false"
}

function unpackCommand({
  path,
  extract = false,
  owners = false,
}: Readonly<Record<string, unknown>>): ExecCommand | string {
  if (!isPath(path)) return pathSentence
  if (typeof extract !== 'boolean' || typeof owners !== 'boolean')
    return "'extract' and 'owners' must be true or false"
  return { type: 'unpack', path, extract, owners }
}

const pathSentence = `'path' must be a text of 1 to ${String(maxPathBytes)} bytes without NUL`

function isPath(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.includes('\0')) return false
  return new TextEncoder().encode(value).length <= maxPathBytes
}

function isArguments(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxExecArguments) return false
  return value[0] !== '' && value.every((each) => typeof each === 'string' && !each.includes('\0'))
}

function terminalOf(value: unknown): ExecTerminal | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { rows, columns } = value as { readonly rows?: unknown; readonly columns?: unknown }
  return isWhole(rows, maxTerminalSide) && isWhole(columns, maxTerminalSide) ? { rows, columns } : undefined
}

function isWhole(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most
}
