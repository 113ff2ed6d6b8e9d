import type { Unpacked, UnpackInput } from './unpack.ts'

/**
 * What the agent and a process that unpacks say to each other, one line of JSON each:
 *
 *   agent:    the order
 *   process:  `merged`, before anything is written
 *   agent:    `go`
 *   process:  `done`, `refused` or `failed`, and it ends
 *
 * When its standard input ends, the process ends too, because its agent is gone.
 */
export interface UnpackOrder extends UnpackInput {
  /** The directory in which the process works. The blobs are in it. */
  readonly directory: string
  /** The user that the process becomes before it reads anything of the image. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

export const go = 'go'

export type UnpackReport =
  | { readonly kind: 'merged'; readonly bytes: number }
  | { readonly kind: 'done'; readonly unpacked: Unpacked }
  /** The image can not be used; the message is for its owner. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }
