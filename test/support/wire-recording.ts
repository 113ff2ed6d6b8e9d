import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Every frame that passes a bridge, in a file. */
export interface WireRecording {
  /** Ends the recording. Throws if the kernel could not keep a frame for it. */
  stop(): Promise<RecordedWire>
  /** Ends the recording if it goes on, and removes the file. */
  remove(): Promise<void>
}

export interface RecordedWire {
  readonly byteCount: number
  /**
   * Those of the texts that were seen, as they are or in base64. A text that was cut in two by the end of a
   * packet is not found.
   */
  seen(texts: readonly string[]): readonly string[]
}

/** How much of the file is in memory at once. */
const pieceBytes = 4 * 1024 * 1024

/**
 * A raw socket sees every frame, as a program at the wire would. A bridge shows it frames between two of its
 * ports only while it is promiscuous. The buffer holds what comes while the machine is busy.
 */
const recorder = `
import socket, sys, signal, struct
bufferBytes, forcedBuffer, packets, statistics = 256 << 20, 33, 263, 6
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
wire.setsockopt(socket.SOL_SOCKET, forcedBuffer, bufferBytes)
wire.bind((sys.argv[1], 0))
wire.settimeout(0.2)
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
sys.stderr.write("listening\\n"); sys.stderr.flush()
while not ended:
    try: sys.stdout.buffer.write(wire.recv(1 << 17))
    except socket.timeout: pass
wire.setblocking(False)
try:
    while True: sys.stdout.buffer.write(wire.recv(1 << 17))
except BlockingIOError: pass
sys.stdout.buffer.flush()
lost = struct.unpack("II", wire.getsockopt(packets, statistics, 8))[1]
sys.exit("%d frames were lost" % lost if lost else 0)
`

/** The bridge has to be promiscuous. */
export async function recordWire(bridge: string): Promise<WireRecording> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-wire-'))
  const file = path.join(directory, 'frames')
  const output = openSync(file, 'w', 0o600)
  const child = spawn('python3', ['-c', recorder, bridge], { stdio: ['ignore', output, 'pipe'] })
  closeSync(output)
  const said: string[] = []
  child.stderr!.setEncoding('utf8').on('data', (text: string) => said.push(text))
  const closed = once(child, 'close')
  await Promise.race([once(child.stderr!, 'data'), closed])
  if (child.exitCode !== null) throw new Error(`the recorder ended: ${said.join('')}`)
  return {
    async stop() {
      child.kill('SIGTERM')
      await closed
      if (child.exitCode !== 0) throw new Error(`the recording is not complete: ${said.join('')}`)
      return { byteCount: statSync(file).size, seen: (texts) => seenIn(file, texts) }
    },
    async remove() {
      child.kill('SIGKILL')
      await closed
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function seenIn(file: string, texts: readonly string[]): readonly string[] {
  const needles = texts.map((text) => ({ text, forms: formsOf(text) }))
  const longest = Math.max(...needles.flatMap(({ forms }) => forms.map(({ length }) => length)))
  const found = new Set<string>()
  const piece = Buffer.alloc(pieceBytes)
  const frames = openSync(file, 'r')
  // Pieces overlap, so that what stands at the end of one is found in the next.
  for (let at = 0; ; at += pieceBytes - longest) {
    const read = readSync(frames, piece, 0, pieceBytes, at)
    const bytes = piece.subarray(0, read)
    for (const { text, forms } of needles) if (forms.some((form) => bytes.includes(form))) found.add(text)
    if (read < pieceBytes) break
  }
  closeSync(frames)
  return [...found]
}

/**
 * A text as it is, and as what it is in base64 after none, one or two other bytes. The letters at both ends
 * depend on the neighbours, so they are left out.
 */
function formsOf(text: string): readonly string[] {
  const encoded = [0, 1, 2].map((before) => {
    const whole = Buffer.from(' '.repeat(before) + text).toString('base64')
    const [first, last] = [before === 0 ? 0 : before + 1, whole.replaceAll('=', '').length]
    return whole.slice(first, last - ((before + text.length) % 3 === 0 ? 0 : 1))
  })
  return [text, ...encoded]
}
