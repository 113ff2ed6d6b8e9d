/** One member of a layer's archive. Names hold one character per byte, because file names are bytes. */
export interface TarEntry {
  readonly name: string
  readonly kind: TarKind
  /** The permission bits, with set-user-ID, set-group-ID and sticky. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly mtimeSeconds: number
  /** The size of the content that follows. It is 0 for everything except files. */
  readonly size: number
  /** The target of a hard or symbolic link. */
  readonly linkName: string
  readonly xattrs: ReadonlyMap<string, Buffer>
}

export const TarKind = {
  File: 'file',
  Directory: 'directory',
  Symlink: 'symlink',
  HardLink: 'hard-link',
  Fifo: 'fifo',
  Device: 'device',
} as const
export type TarKind = (typeof TarKind)[keyof typeof TarKind]

export const tarBlockBytes = 512

/** A layer is not an archive that can be used. The message says what is wrong with it. */
export class LayerError extends Error {
  override readonly name = 'LayerError'
}

/** A name in a form that is fit for a message. Names come from strangers and may hold anything. */
export function printable(name: string): string {
  const text = Buffer.from(name, 'latin1').toString('utf8')
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
