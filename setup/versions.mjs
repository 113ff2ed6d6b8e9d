/**
 * Every version that set-up brings, exactly. npm packages are pinned by package-lock.json. Debian packages follow the
 * machine's release: their archive keeps no old versions, so a pin would break with the next security fix.
 */
export const versions = {
  /** Installed with `go install`, or downloaded from Temporal's own site: the dev server with its Web UI. */
  temporalCli: '1.5.1',
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
