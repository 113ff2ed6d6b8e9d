/** Where a VM's volume is copied to while the VM runs. */
export interface MirrorTarget {
  /** The size of the volume. */
  readonly bytes: number
  /** The VMM waits until this has resolved, and the VM does not. If it rejects, the mirror ends. */
  write(at: number, data: Buffer): Promise<void>
  /** The same, of zeros. A new volume is nothing else. */
  zero(at: number, length: number): Promise<void>
}

/** A volume that is being copied, and then followed, until the VM ends or is suspended. */
export interface VolumeMirror {
  /** Resolves with true once the target has had all of the volume; false if the mirror is over before. */
  readonly ready: Promise<boolean>
  /**
   * Resolves when nothing more is written to the target. With true, the VM has become its snapshot, and the
   * target has what its volume had then. With false, the target is of no use.
   */
  readonly over: Promise<boolean>
  /** Ends it. The VM goes on. */
  cancel(): void
}
