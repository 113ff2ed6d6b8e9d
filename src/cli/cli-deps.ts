import type { Database } from '../db/database.ts'
import type { DoctorReport } from '../launch/doctor.ts'

/** What the commands work with; the composition root attaches it. */
export interface CliDeps {
  /** Standard output: what was asked for, and nothing else. */
  readonly write: (text: string) => void
  /** Standard error: what a person should know besides. */
  readonly note: (text: string) => void
  /** Connects for the time of `work` and closes afterwards. Throws `CliFailure` where there is no database. */
  readonly withDatabase: <T>(work: (database: Database) => Promise<T>) => Promise<T>
  readonly images: ImageStore
  readonly doctor: () => Promise<DoctorReport>
}

/** The stack's registry. */
export interface ImageStore {
  /** Puts an image from disk under a name. Throws `CliFailure` where that is not possible. */
  store(image: ImageToStore): Promise<StoredImage>
}

export interface ImageToStore {
  /** An OCI layout, as directory or archive, or what `docker save` writes. */
  readonly path: string
  /** Which image of it, where it holds several. */
  readonly imageInArchive?: string
  readonly name: string
  /** Whose rights count: the stack's administrator, or the user whose token is in the file or the environment. */
  readonly as: 'administrator' | { readonly tokenFile?: string }
}

export interface StoredImage {
  /** As the API shows it. */
  readonly reference: string
  readonly digest: string
}
