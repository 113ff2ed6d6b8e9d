import assert from 'node:assert/strict'
import fc from 'fast-check'
import { AnswerFault, AnswerReader } from '../../src/gateway/http/upstream/answer-reader.ts'
import { answerFrom } from '../support/http-grammar.ts'
import { NodeParser } from '../support/node-parser.ts'
import { Tape, explained, fuzzRuns, fuzzTimeoutMs, tapes } from '../support/tape.ts'

const maxHeadBytes = 700
const node = new NodeParser('answers', maxHeadBytes)

interface ReadHead {
  readonly status: number
  readonly reason: string
  readonly fields: readonly string[]
}

/** What was heard of an answer. */
interface Heard {
  readonly informed: Omit<ReadHead, 'reason'>[]
  head: ReadHead | undefined
  body: string
  trailers: readonly string[]
  completions: number
  reusable: boolean
  isFaulty: boolean
}

/** Has the reader read these pieces of a connection, and then its end if `ends`. */
function read(
  pieces: readonly Buffer[],
  options: { readonly toHead: boolean; readonly ends: boolean },
): Heard {
  const heard: Heard = {
    informed: [],
    head: undefined,
    body: '',
    trailers: [],
    completions: 0,
    reusable: false,
    isFaulty: false,
  }
  const reader = new AnswerReader(maxHeadBytes)
  const handler = {
    inform: (status: number, fields: readonly string[]) => void heard.informed.push({ status, fields }),
    head: (status: number, reason: string, fields: readonly string[]) => {
      heard.head = { status, reason, fields }
    },
    data: (chunk: Buffer) => {
      heard.body += chunk.toString('latin1')
    },
    complete: (trailers: readonly string[]) => {
      heard.trailers = trailers
      heard.completions += 1
    },
  }
  reader.begin(handler, options)
  try {
    for (const piece of pieces) reader.read(piece)
    if (options.ends) reader.end()
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error
    heard.isFaulty = true
  }
  heard.reusable = heard.completions > 0 && reader.reusable
  return heard
}

function cutAtRandom(bytes: Buffer, tape: Tape): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const next = at + 1 + tape.below(tape.pick([8, 64, 1]))
    pieces.push(bytes.subarray(at, next))
    at = next
  }
  return pieces
}

/** Where the answer is complete: the length of the shortest part of the bytes in which it is. */
function endOf(bytes: Buffer, toHead: boolean): number {
  let short = 0
  let enough = bytes.length
  while (enough - short > 1) {
    const middle = (short + enough) >> 1
    if (read([bytes.subarray(0, middle)], { toHead, ends: false }).completions > 0) enough = middle
    else short = middle
  }
  return enough
}

/**
 * Node has read the same so far. What is not complete may be shorter than what Node has read. Node's parser
 * does not know whether the answer is one to HEAD when it says whether the connection stays open.
 */
function readAlike(heard: Heard, toHead: boolean): void {
  const first = node.messages.find(({ status }) => status >= 200)
  const informed = node.messages.filter(({ status }) => status < 200)
  assert.deepEqual(
    informed.slice(0, heard.informed.length).map(({ status, fields }) => ({ status, fields })),
    heard.informed,
  )
  if (heard.head === undefined) return
  assert.equal(informed.length, heard.informed.length)
  assert.ok(first !== undefined, 'Node has no head')
  const { status, reason, fields } = first
  assert.deepEqual({ status, reason, fields }, heard.head)
  assert.ok(first.body.startsWith(heard.body), 'Node reads another body')
  assert.ok(toHead || !heard.reusable || first.keepsAlive, 'Node closes the connection')
}

/**
 * Node takes a tab after `chunked` for a part of the word, and reads such a body to the end of the
 * connection. By RFC 9110 the tab is space around the value, and the gateway reads it so.
 */
const tabAfterCoding = /^transfer-encoding:[\t ]*chunked *\t[\t ]*\r$/im

/** Has both read the bytes, in one piece and in several. Returns whether the reader took a whole answer. */
function compare(bytes: Buffer, tape: Tape): boolean {
  if (tabAfterCoding.test(bytes.toString('latin1'))) return false
  const toHead = tape.oneIn(8)
  const heard = read([bytes], { toHead, ends: false })
  const { reusable: _, ...inPieces } = read(cutAtRandom(bytes, tape), { toHead, ends: false })
  const { reusable: __, ...inOnePiece } = heard
  assert.deepEqual(inPieces, inOnePiece, 'the pieces are read differently')
  assert.ok(heard.completions <= 1)
  node.begin({ toHead })
  node.feed(bytes)
  // Node reads nothing after an informational answer that says close. The gateway waits for the final one.
  if (node.messages.some(({ status, keepsAlive }) => status < 200 && !keepsAlive)) return false
  if (heard.completions === 0) {
    readAlike(heard, toHead)
    if (heard.isFaulty || read([bytes], { toHead, ends: true }).completions === 0) return false
    assert.equal(node.messages.at(-1)?.body, heard.body)
    assert.equal(node.messages.at(-1)?.isComplete, false)
    assert.equal(node.end(), undefined)
    assert.equal(node.messages.at(-1)?.isComplete, true)
    return true
  }
  const end = endOf(bytes, toHead)
  node.begin({ toHead })
  const finals = (): number => node.messages.filter((one) => one.isComplete && one.status >= 200).length
  assert.equal(node.feed(bytes.subarray(0, end - 1)), undefined)
  assert.equal(finals(), 0, 'Node ends the answer earlier')
  assert.equal(node.feed(bytes.subarray(end - 1, end)), undefined)
  assert.equal(finals(), 1, 'Node does not end the answer here')
  readAlike(heard, toHead)
  assert.equal(node.messages.at(-1)?.body, heard.body)
  assert.deepEqual(node.messages.at(-1)?.trailers, heard.trailers)
  if (end < bytes.length) assert.equal(heard.reusable, false, 'the connection is kept with bytes left over')
  return true
}

describe('an answer of an instance', () => {
  it('that the gateway takes is the same to Node, however it is cut', function () {
    this.timeout(fuzzTimeoutMs)
    const { numRuns = 0, ...settings } = fuzzRuns(50_000)
    let taken = 0
    let informed = 0
    let bodies = 0
    fc.assert(
      fc.property(tapes, (choices) => {
        const tape = new Tape(choices)
        const bytes = answerFrom(tape)
        if (!explained(bytes, () => compare(bytes, tape))) return
        taken += 1
        if (node.messages.length > 1) informed += 1
        if (node.messages.at(-1)?.body !== '') bodies += 1
      }),
      { numRuns, ...settings },
    )
    const shares = `${taken} taken of ${numRuns}, ${bodies} with a body, ${informed} after an informational one`
    if (fuzzTimeoutMs === 0) console.log(`      ${shares}`)
    assert.ok(taken > numRuns / 5 && taken < (numRuns * 4) / 5, shares)
    assert.ok(bodies > numRuns / 20 && informed > numRuns / 200, shares)
  })

  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'
  const refused: Readonly<Record<string, string>> = {
    'an extension without a name': `${chunked}\r\n3;\r\nabc\r\n0\r\n\r\n`,
    'an extension with a space': `${chunked}\r\n3;a b\r\nabc\r\n0\r\n\r\n`,
    'an extension with an open quote': `${chunked}\r\n3;a="b\r\nabc\r\n0\r\n\r\n`,
    'a space after the size of a chunk': `${chunked}\r\n3 ;a\r\nabc\r\n0\r\n\r\n`,
    'a length in a trailer': `${chunked}\r\n0\r\nContent-Length: 5\r\n\r\n`,
    'a coding in a trailer': `${chunked}\r\n0\r\nX: y\r\ntransfer-encoding: chunked\r\n\r\n`,
    'both lengths': `${chunked}Content-Length: 3\r\n\r\n0\r\n\r\n`,
    'a length with a sign in an informational answer': `HTTP/1.1 103 x\r\nContent-Length: +3\r\n\r\n${chunked}\r\n`,
  }
  for (const [what, bytes] of Object.entries(refused)) {
    it(`with ${what} is not taken`, () => {
      const heard = read([Buffer.from(bytes)], { toHead: false, ends: true })
      assert.deepEqual([heard.isFaulty, heard.completions], [true, 0])
    })
  }

  it('keeps the connection only if keep-alive is a word of its own, or the version means it', () => {
    const isKept = (version: string, field: string): boolean => {
      const bytes = Buffer.from(`HTTP/${version} 200 OK\r\n${field}\r\nContent-Length: 0\r\n\r\n`)
      return read([bytes], { toHead: false, ends: false }).reusable
    }
    assert.equal(isKept('1.1', 'X: y'), true)
    assert.equal(isKept('1.0', 'X: y'), false)
    assert.equal(isKept('1.0', 'Connection: Keep-Alive'), true)
    assert.equal(isKept('1.0', 'Connection: x-keep-alive'), false)
    assert.equal(isKept('1.1', 'Connection: keep-alive, Close'), false)
    assert.equal(isKept('1.1', 'Proxy-Connection: close'), false)
  })
})
