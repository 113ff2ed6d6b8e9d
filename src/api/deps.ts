import type { Tracer } from '../primitives/traces.ts'
import type { Logger } from 'pino'
import type { AutoscaleControl } from '../control/autoscale-control.ts'
import type { CertificateControl } from '../control/certificate-control.ts'
import type { HostControl } from '../control/host-control.ts'
import type { InstanceControl } from '../control/instance-control.ts'
import type { RolloutControl } from '../control/rollout-control.ts'
import type { ScheduleControl } from '../control/schedule-control.ts'
import type { VolumeControl } from '../control/volume-control.ts'
import type { Database } from '../db/database.ts'
import type { InstanceWatch } from '../db/instance/watch.ts'
import type { SecretBox } from '../db/secret-box.ts'
import type { TokenAuthenticator } from '../db/account/authenticator.ts'
import type { Sessions } from '../db/account/sessions.ts'
import type { ConsoleFiles } from './console/files.ts'
import type { ImageListing } from '../registry/image-listing.ts'
import type { ImageResolver } from '../registry/image-resolver.ts'
import type { ApiMetrics } from './api-metrics.ts'
import type { DomainProofs } from './service/domain-proofs.ts'
import type { StreamTimes } from './stream-writer.ts'
import type { FeedTimes } from './internal/feed-stream.ts'
import type { HostReports } from '../control/host-reports.ts'
import type { NodeClient } from '../control/host-client.ts'
import type { PartClient } from '../control/part-client.ts'
import type { RegistryTokens } from './image/registry-tokens.ts'
import type { KeyPairPem } from '../x509/key-pair.ts'
import type { BucketRate } from '../domain/token-bucket.ts'

/** Everything that the API uses. The composition root and the tests decide what implements each. */
export interface ApiDeps {
  readonly database: Database
  readonly secretBox: SecretBox
  readonly tokens: TokenAuthenticator
  readonly sessions: Sessions
  /** The pages of the console. If they are absent, set-up has not built them. */
  readonly consoleFiles?: ConsoleFiles
  readonly watch: InstanceWatch
  readonly control: InstanceControl
  readonly volumeControl: VolumeControl
  readonly certificateControl: CertificateControl
  readonly autoscaleControl: AutoscaleControl
  readonly scheduleControl: ScheduleControl
  readonly rolloutControl: RolloutControl
  readonly hostControl: Pick<HostControl, 'lookAgain'>
  readonly nodes: NodeClient
  /** The authority of the installation's own parts. Absent: all parts are on one machine. */
  readonly authority?: KeyPairPem | undefined
  readonly hostReports: Pick<HostReports, 'tell'>
  readonly parts: PartClient
  readonly images: ImageResolver
  readonly imageListing: ImageListing
  readonly registry: RegistryTokens
  /** The check that custom domains belong to a user. If it is absent, they are accepted without a proof. */
  readonly domainProofs?: DomainProofs
  /** Set if requests are traced. */
  readonly tracer?: Tracer | undefined
  readonly metrics: ApiMetrics
  readonly log: Logger
  readonly nowMs: () => number
  readonly settings: ApiSettings
  /** Aborts when the process is told to stop, so that waiting requests are answered at once. */
  readonly stopping: AbortSignal
}

export interface ApiSettings {
  readonly rate: BucketRate
  /** How many objects one account may make or change per minute; see `ChangePace`. */
  readonly changesPerMinute: number
  /** The token with which hosts join. */
  readonly joinToken: string
  /** The token with which gateways ask for routes. */
  readonly gatewayToken: string
  /** The intervals and limits of the feeds. If they are absent, those that suit real readers are used. */
  readonly feedTimes?: FeedTimes
  /** The same for streams that clients follow. */
  readonly streamTimes?: StreamTimes
  /** Where further hosts find the control plane. Absent: none can join. */
  readonly hostsAddress?: { readonly host: string; readonly port: number } | undefined
  /** The term that hosts are told. Absent: none. */
  readonly termMs?: number | undefined
  /** The settings that name services which other machines do not reach. Absent: there are none. */
  readonly servicesHereAlone?: readonly string[]
  /** The network of the first host, such as `10.64.0.0/16`. */
  readonly firstSubnet: string
  readonly handlingTimeoutMs: number
  /** How long the answer to a create of volumes waits for their file systems. */
  readonly makingVolumesMs: number
  /** The domain whose subdomains are given to services; lower case, without a final dot. */
  readonly metroDomain: string
  /** Where users push images. */
  readonly registryUrl: string
  /** Whether they push through the registry's owner. */
  readonly registryBounded: boolean
  /**
   * The ports of the gateways: for the public port P, they listen on P + `offset`. A service can not have a
   * public port if that sum is one of `withheld`.
   */
  readonly publicPorts: { readonly offset: number; readonly withheld: ReadonlySet<number> }
}
