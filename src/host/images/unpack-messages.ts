import type { Unpacked, UnpackInput } from './unpack.ts'

/**
 * The messages between the agent and a process that unpacks, one line of JSON each:
 *
 *   agent:    the order
 *   process:  `merged`, before anything is written
 *   agent:    `go`
 *   process:  `done`, `refused` or `failed`, and it ends
 *
 * If the process's standard input ends, its agent has ended, so the process ends too.
 */
export interface UnpackOrder extends UnpackInput {
  /** The directory in which the process works. The blobs are in it. */
  readonly directory: string
  /**
   * The user that the process becomes before it reads anything of the image. If it is absent, the process
   * keeps its user.
   */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

export const go = 'go'

export type UnpackReport =
  | { readonly kind: 'merged'; readonly bytes: number }
  | { readonly kind: 'done'; readonly unpacked: Unpacked }
  /** The image can not be used; the message is for its owner. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }
