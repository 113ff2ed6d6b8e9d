import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import { until } from './until.ts'

const limitMs = 60_000

/**
 * Node opens no terminals, and Python's standard library does. The script starts a program with a terminal
 * of its own, as a window of a person has one. Lines of JSON on standard input say what the person does, and
 * those on standard output tell what comes to the screen.
 */
const script = `
import base64, fcntl, json, os, pty, struct, subprocess, sys, termios, threading

main, side = pty.openpty()

def resize(rows, columns):
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

def tell(**facts):
    sys.stdout.write(json.dumps(facts) + "\\n")
    sys.stdout.flush()

def modes():
    return termios.tcgetattr(side)[:4]

def read():
    while True:
        shown = os.read(main, 65536)
        tell(screen=base64.b64encode(shown.rstrip(b"\\0")).decode())
        if shown.endswith(b"\\0"):
            all_shown.set()

def lead():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

resize(30, 90)
before = modes()
all_shown = threading.Event()
program = subprocess.Popen(sys.argv[1:], stdin=side, stdout=side, stderr=side, preexec_fn=lead)
tell(pid=program.pid)
threading.Thread(target=read, daemon=True).start()

def hear():
    for line in sys.stdin:
        order = json.loads(line)
        if "keys" in order:
            os.write(main, order["keys"].encode())
        if "size" in order:
            resize(*order["size"])
    program.kill()

threading.Thread(target=hear, daemon=True).start()
code = program.wait()
restored = modes() == before
# This byte comes out of the terminal after all that the program wrote.
os.write(side, b"\\0")
all_shown.wait()
tell(code=code, restored=restored)
`

interface Told {
  readonly pid?: number
  readonly screen?: string
  readonly code?: number
  readonly restored?: boolean
}

/** The end of the program. A negative code is the number of a signal that ended it. */
interface ProgramEnd {
  readonly code: number
  /** Whether the terminal has the modes that it had before. */
  readonly restored: boolean
}

/**
 * A terminal with 30 rows and 90 columns, and a program that was started in it as the leader of its
 * session.
 */
export interface PseudoTerminal {
  readonly pid: number
  /** All that came to the screen so far, with its control characters. */
  screen(): string
  type(keys: string): void
  resize(size: { readonly rows: number; readonly columns: number }): void
  /** Resolves when the screen has the text. */
  shows(text: string): Promise<void>
  readonly ended: Promise<ProgramEnd>
  /** Kills the program if it runs. */
  close(): Promise<void>
}

export async function openPseudoTerminal(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<PseudoTerminal> {
  const python = requireInstalled(readInstalled(), 'python')
  const child = spawn(python, ['-c', script, ...argv], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => undefined)
  const order = (what: object) => child.stdin.write(`${JSON.stringify(what)}\n`)
  const pid = Promise.withResolvers<number>()
  const ended = Promise.withResolvers<ProgramEnd>()
  let screen = ''
  createInterface({ input: child.stdout })
    .on('line', (line) => {
      const told = JSON.parse(line) as Told
      if (told.screen !== undefined) screen += Buffer.from(told.screen, 'base64').toString('latin1')
      if (told.pid !== undefined) pid.resolve(told.pid)
      if (told.code !== undefined) ended.resolve({ code: told.code, restored: told.restored === true })
    })
    .once('close', () => pid.reject(new Error('the terminal could not be opened')))
  return {
    pid: await pid.promise,
    screen: () => screen,
    type: (keys) => order({ keys }),
    resize: ({ rows, columns }) => order({ size: [rows, columns] }),
    shows: async (text) => {
      await until(`the screen shows ${JSON.stringify(text)}`, () => screen.includes(text), { limitMs }).catch(
        (cause: unknown) => {
          throw new Error(`the screen is ${JSON.stringify(screen)}`, { cause })
        },
      )
    },
    ended: ended.promise,
    close: async () => {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
