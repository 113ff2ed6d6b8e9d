import type { Unpacked, UnpackInput } from './unpack.ts'

/**
 * What the agent and a process that unpacks say to each other, a line of JSON each:
 *
 *   agent:    the order
 *   process:  `merged`, before anything is written
 *   agent:    `go`
 *   process:  `done`, `refused` or `failed`, and it ends
 *
 * The end of its standard input ends the process: its agent is gone.
 */
export interface UnpackOrder extends UnpackInput {
  /** Where the process works, with the blobs in it. */
  readonly directory: string
  /** Whom the process becomes before it reads anything of the image. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

export const go = 'go'

export type UnpackReport =
  | { readonly kind: 'merged'; readonly bytes: number }
  | { readonly kind: 'done'; readonly unpacked: Unpacked }
  /** The image is what is wrong; the message is for its owner. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }
