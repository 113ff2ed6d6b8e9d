/** An archive in the form the kernel unpacks as its first file system (cpio, "newc"). */
export function packCpio(
  entries: readonly {
    readonly name: string
    readonly mode: number
    readonly data?: Buffer
    readonly major?: number
    readonly minor?: number
  }[],
): Buffer
