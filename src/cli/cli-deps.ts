import type { TextLookup } from '../acme/text-lookups.ts'
import type { AutoscaleControl } from '../control/autoscale-control.ts'
import type { CertificateControl } from '../control/certificate-control.ts'
import type { PlacedInstance } from '../control/host-client.ts'
import type { InstanceControl } from '../control/instance-control.ts'
import type { VolumeControl } from '../control/volume-control.ts'
import type { Database } from '../db/database.ts'
import type { ProofTokens } from '../db/service/proof-token.ts'
import type { ToldLease } from '../explain/instance/host-lease.ts'
import type { DoctorReport } from '../launch/doctor/doctor.ts'
import type { PlatformEnd } from '../launch/end-signals.ts'
import type { HaltOutcome } from '../launch/halt.ts'

/** What the commands work with; the composition root attaches it. */
export interface CliDeps {
  /** Writes to standard output: the answer to the command, and nothing else. */
  readonly write: (text: string) => void
  /** Writes to standard error: what else a person should know. */
  readonly note: (text: string) => void
  /** Connects for the time of `work` and closes afterwards. Throws `CliFailure` if there is no database. */
  readonly withDatabase: <T>(work: (database: Database) => Promise<T>) => Promise<T>
  /** Connects to the workflows for the time of `work`. Throws `CliFailure` if no stack is known. */
  readonly withControl: <T>(work: (control: CliControl) => Promise<T>) => Promise<T>
  /** Asks the instance's host for its lease. */
  readonly readHostLease: (database: Database, instance: PlacedInstance) => Promise<ToldLease>
  readonly images: ImageStore
  /** How users prove custom domains. */
  readonly domainProof: {
    /** Whether a domain needs a proof before a service may get it. */
    readonly isAsked: boolean
    /** Throws `CliFailure` if the installation's key can not be read. */
    readonly tokens: () => Promise<ProofTokens>
    readonly textsOf: TextLookup
  }
  readonly doctor: () => Promise<DoctorReport>
  /** The platform on this machine, whether or not it runs. */
  readonly platform: {
    readonly dataDir: string
    readonly halt: (end: PlatformEnd) => Promise<HaltOutcome>
  }
  /**
   * The local authority for the metro domain. `file` is absent if the metro domain's certificate is the
   * operator's own.
   */
  readonly authority: {
    readonly file: string | undefined
    readonly metroDomain: string
    /** Makes the authority if it does not exist yet. Throws `CliFailure` if it can not be read. */
    readonly customDomains: () => Promise<CustomDomainsAuthority>
  }
}

/**
 * The source of certificates of custom domains: the local authority with its root in PEM, or the directory
 * of another one.
 */
export type CustomDomainsAuthority = { readonly certificate: string } | { readonly directory: string }

/** The calls to workflows that commands need. */
export interface CliControl {
  readonly instances: Pick<InstanceControl, 'drainUntilMs' | 'hostGone'>
  readonly volumes: Pick<VolumeControl, 'repair' | 'hostGone'>
  readonly certificates: Pick<CertificateControl, 'retry'>
  readonly autoscales: Pick<AutoscaleControl, 'seen'>
}

/** The stack's registry. */
export interface ImageStore {
  /** Puts an image from disk into the registry under a name. Throws `CliFailure` if that is not possible. */
  store(image: ImageToStore): Promise<StoredImage>
}

export interface ImageToStore {
  /** The image on disk: an OCI layout, as directory or archive, or what `docker save` writes. */
  readonly path: string
  /** The name of the image in the archive. It is needed if the archive holds several. */
  readonly imageInArchive?: string
  readonly name: string
  /**
   * Whose rights are used: those of the stack's administrator, or those of the user whose token is in the
   * file or the environment.
   */
  readonly as: 'administrator' | { readonly tokenFile?: string }
}

export interface StoredImage {
  /** The name in the form that the API shows. */
  readonly reference: string
  readonly digest: string
}
