import { mkdirSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import type { Socket } from 'node:net'
import path from 'node:path'
import process from 'node:process'
import { once } from 'node:events'
import { JsonLineReader, jsonLine } from '../../primitives/json-lines.ts'

/**
 * The socket at which `roost upgrade` speaks to the process that runs the platform. Its user alone can
 * open it. The question is one line, `{ "checkout": <directory> }`. What follows says how the upgrade
 * goes; it goes on if nobody listens any more.
 */
export type UpgradeNews =
  | { readonly kind: 'step'; readonly text: string }
  | { readonly kind: 'done'; readonly version: string }
  | { readonly kind: 'failed'; readonly why: string }

export interface UpgradeDoor {
  close(): Promise<void>
}

const maxLineBytes = 65_536

export function upgradeSocket(runDirectory: string): string {
  return path.join(runDirectory, 'upgrade.socket')
}

/** `upgrade` resolves with the version that runs then. One upgrade goes on at a time. */
export async function openUpgradeDoor(
  runDirectory: string,
  upgrade: (checkout: string, say: (text: string) => void) => Promise<string>,
): Promise<UpgradeDoor> {
  const file = upgradeSocket(runDirectory)
  mkdirSync(runDirectory, { recursive: true })
  // The holder of the directory's lock is alone, so a socket that is there was left by a process that has
  // ended.
  rmSync(file, { force: true })
  const open = new Set<Socket>()
  let isBusy = false

  async function serve(socket: Socket): Promise<void> {
    const tell = (news: UpgradeNews): void => void (socket.writable && socket.write(jsonLine(news)))
    const checkout = await readCheckout(socket)
    if (checkout === undefined) return void socket.destroy()
    if (isBusy) {
      tell({ kind: 'failed', why: 'another upgrade is under way' })
      return void socket.end()
    }
    isBusy = true
    try {
      tell({ kind: 'done', version: await upgrade(checkout, (text) => tell({ kind: 'step', text })) })
    } catch (error) {
      tell({ kind: 'failed', why: error instanceof Error ? error.message : String(error) })
    } finally {
      isBusy = false
      socket.end()
    }
  }

  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    void serve(socket)
  })
  const listening = once(server, 'listening')
  const before = process.umask(0o177)
  server.listen(file)
  process.umask(before)
  await listening
  return {
    async close() {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Undefined if the other side says something else. */
async function readCheckout(socket: Socket): Promise<string | undefined> {
  for (const line of await firstLines(socket)) {
    const question = readQuestion(line)
    if (question !== undefined) return question.checkout
  }
  return undefined
}

export function readQuestion(line: object): { readonly checkout: string } | undefined {
  const { checkout } = line as { readonly checkout?: unknown }
  return typeof checkout === 'string' ? { checkout } : undefined
}

/** Undefined for news of a later version. */
export function readNews(line: object): UpgradeNews | undefined {
  const { kind, text, version, why } = line as Readonly<Record<string, unknown>>
  if (kind === 'step' && typeof text === 'string') return { kind, text }
  if (kind === 'done' && typeof version === 'string') return { kind, version }
  return kind === 'failed' && typeof why === 'string' ? { kind, why } : undefined
}

async function firstLines(socket: Socket): Promise<readonly object[]> {
  const reader = new JsonLineReader({ maxBytes: maxLineBytes })
  return await new Promise((resolve) => {
    socket.on('close', () => resolve([]))
    socket.on('data', (chunk: Buffer) => {
      try {
        const lines = reader.push(chunk)
        if (lines.length > 0) resolve(lines)
      } catch {
        resolve([])
      }
    })
  })
}

/**
 * Asks the platform of this run directory to be taken over by the version in `checkout`. Resolves with
 * the last news; undefined if no platform listens there, or if it ended in between.
 */
export async function askForUpgrade(
  runDirectory: string,
  checkout: string,
  say: (text: string) => void,
): Promise<Exclude<UpgradeNews, { readonly kind: 'step' }> | undefined> {
  const socket = createConnection(upgradeSocket(runDirectory))
  const reader = new JsonLineReader({ maxBytes: maxLineBytes })
  return await new Promise((resolve) => {
    socket.on('error', () => resolve(undefined)).on('close', () => resolve(undefined))
    socket.on('connect', () => socket.write(jsonLine({ checkout })))
    socket.on('data', (chunk: Buffer) => {
      for (const news of reader.push(chunk).map(readNews))
        if (news?.kind === 'step') say(news.text)
        else if (news !== undefined) resolve(news)
    })
  })
}
