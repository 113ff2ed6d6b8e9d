/** The settings (`src/settings/settings.ts`) that the embedded stack uses. */
export interface StackSettings {
  readonly dataDir: string
  readonly cacheDir: string
  readonly apiHost: string
  readonly apiPort: number
  readonly apiUrl: string
  readonly metroDomain: string
  readonly portOffset: number
  readonly vmEgress: boolean
  readonly temporalUiPort: number
  readonly temporalNamespace: string
  /**
   * Each of these three settings names a service. If it is set, the stack uses that service and starts none.
   */
  readonly databaseUrl: string | undefined
  readonly temporalAddress: string | undefined
  readonly registryUrl: string | undefined
  readonly temporalAuthorityFile: string | undefined
  readonly temporalCertFile: string | undefined
  readonly temporalKeyFile: string | undefined
  readonly agentDir: string
  readonly agentHost: string
  readonly joinTokenFile: string
  readonly secretKeyFile: string
  readonly registryKeyFile: string
  readonly registryCertFile: string
  readonly authorityKeyFile: string
  readonly authorityCertFile: string
  /** Where further hosts find this machine. Absent: there are none. */
  readonly hostsAddress: { readonly host: string; readonly port: number } | undefined
  readonly gatewayTokenFile: string
  readonly gatewayDir: string
  /** The address on which the gateway listens. If it is undefined, the gateway listens on all addresses. */
  readonly gatewayHost: string | undefined
  readonly metroCertFile: string | undefined
  readonly metroKeyFile: string | undefined
  readonly acmeCaFile: string | undefined
}
