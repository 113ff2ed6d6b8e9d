/**
 * The exact versions of what set-up gets. package-lock.json pins the npm packages. Debian packages are not
 * pinned but follow the machine's release: Debian's archive keeps no old versions, so a pin would break with
 * the next security fix.
 */
export const versions = {
  /**
   * The dev server with its Web UI. It is downloaded from Temporal's own site, or built with `go install`.
   */
  temporalCli: '1.5.1',
  /** The SHA-256 of the archives that Temporal published under that version, by architecture. */
  temporalCliArchives: {
    amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
    arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  },
  /**
   * The server version that this CLI reports. By it set-up recognises a binary whose origin it does not
   * know.
   */
  temporalCliServer: '1.29.1',
  /** The production server. The tests and docker-compose.yml run it on PostgreSQL. */
  temporalServer: '1.29.1',
  /** The test server. Version 1.32 loses memo and search attributes at continue-as-new. */
  temporalTestServer: '1.38.0',
  mavenDependencyPlugin: '3.8.1',
  /** The oldest Go that builds these programs. Go itself fetches the toolchain that a module asks for. */
  go: '1.21',
}
