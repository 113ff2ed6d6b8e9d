/**
 * Every version that set-up brings, exactly. npm packages are pinned by package-lock.json. Debian packages
 * follow the machine's release: their archive keeps no old versions, so a pin would break with the next
 * security fix.
 */
export const versions = {
  /** Installed with `go install`, or downloaded from Temporal's own site: the dev server with its Web UI. */
  temporalCli: '1.5.1',
  /** SHA-256 of the archives that its makers published under that version, by architecture. */
  temporalCliArchives: {
    amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
    arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  },
  /** What that CLI reports as its server, which is how a binary of unknown origin is recognised. */
  temporalCliServer: '1.29.1',
  /** The production server, run on PostgreSQL by the tests and by docker-compose.yml. */
  temporalServer: '1.29.1',
  /** 1.32 loses memo and search attributes at continue-as-new. */
  temporalTestServer: '1.38.0',
  mavenDependencyPlugin: '3.8.1',
  /** The least Go that builds the above; Go fetches the toolchain that a module asks for by itself. */
  go: '1.21',
}
