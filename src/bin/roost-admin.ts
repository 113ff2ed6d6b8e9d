import { readFile } from 'node:fs/promises'
import path from 'node:path'
import process from 'node:process'
import { ensureLocalAuthority } from '../acme/local-issuer.ts'
import { createTextLookup } from '../acme/text-lookups.ts'
import type { CustomDomainsAuthority } from '../cli/cli-deps.ts'
import { CliFailure, ExitCode } from '../cli/cli-failure.ts'
import { withDatabase } from '../cli/database-session.ts'
import { createImageStore } from '../cli/image/import.ts'
import { runCli } from '../cli/program.ts'
import { findApiUrl, findDatabaseUrl, findRegistryUrl, findTemporalAddress } from '../cli/stack-addresses.ts'
import { createNodeClient } from '../control/host-client.ts'
import type { PlacedInstance } from '../control/host-client.ts'
import { openTemporalControl } from '../control/temporal-control.ts'
import type { TemporalControl } from '../control/temporal-control.ts'
import { createAuthorityAccounts } from '../db/certificate/authority-accounts.ts'
import { openDatabase } from '../db/database.ts'
import { listNodes } from '../db/host/hosts.ts'
import type { NodesDeps } from '../db/host/hosts.ts'
import { createProofTokens } from '../db/service/proof-token.ts'
import { createSecretBox, parseSecretKey } from '../db/secret-box.ts'
import { overlookVolumes } from '../db/volume/search.ts'
import { DomainProofKind } from '../domain/service/domain-proof.ts'
import { leaseReader } from '../explain/instance/host-lease.ts'
import type { ToldLease } from '../explain/instance/host-lease.ts'
import { findGroupHierarchies, surveyGroups } from '../host/vmm/control-groups.ts'
import { readGuestAssets } from '../host/vmm/guest-assets.ts'
import { readHostFacts } from '../host/vmm/host-facts.ts'
import { findJailGaps } from '../host/vmm/jail-probe.ts'
import { surveyVolumes } from '../host/volumes/volume-survey.ts'
import { runDoctor } from '../launch/doctor/doctor.ts'
import type { VolumesFound } from '../launch/doctor/volumes.ts'
import { haltPlatform } from '../launch/halt.ts'
import { readInstalled, requireInstalled } from '../launch/installed.ts'
import { authorityFile } from '../launch/services/metro-certificate.ts'
import { SettingError } from '../settings/setting-formats.ts'
import { readTemporalPlace } from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'
import type { Settings } from '../settings/settings.ts'
import { probeKvm } from './acceleration.ts'

/** Runs the commands of operators: `roost admin <args>`. */
export async function runAdmin(args: readonly string[]): Promise<ExitCode> {
  try {
    return await run(args)
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    process.stderr.write(`roost: ${error.message}\n`)
    return ExitCode.Usage
  }
}

async function run(args: readonly string[]): Promise<ExitCode> {
  const settings = readSettings(process.env)
  return runCli(args, {
    write: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(text),
    withDatabase: async (work) => withDatabase(await findDatabaseUrl(settings), work),
    withControl: (work) => withControl(settings, work),
    readHostLease: async (database, instance) => {
      const key = await readFile(settings.secretKeyFile, 'utf8').catch(() => undefined)
      if (key === undefined) return `${settings.secretKeyFile} can not be read, so the host is not asked`
      return readHostLease({ database, secretBox: createSecretBox(parseSecretKey(key)) }, instance)
    },
    images: createImageStore({
      addresses: async () => ({
        registryUrl: await findRegistryUrl(settings),
        apiUrl: await findApiUrl(settings),
      }),
      administratorTokenFile: path.join(settings.dataDir, 'token'),
      userToken: process.env['UKC_TOKEN'],
    }),
    authority: {
      metroDomain: settings.metroDomain,
      file:
        settings.metroCertFile === undefined
          ? authorityFile({ directory: settings.gatewayDir, metroDomain: settings.metroDomain })
          : undefined,
      customDomains: () => customDomainsAuthority(settings),
    },
    domainProof: {
      isAsked: settings.domainProof === DomainProofKind.Txt,
      tokens: async () => createProofTokens(await readKey(settings)),
      textsOf: createTextLookup(settings.acmeResolver),
    },
    doctor: () =>
      runDoctor(settings, {
        acceleration: () => probeKvm(settings.cacheDir),
        jailGaps: () => probeJail(),
        volumes: () => findVolumesOnDisk(settings),
        groups: async () => surveyGroups(await findGroupHierarchies()),
      }),
    platform: {
      dataDir: settings.dataDir,
      halt: async (end) => await haltPlatform(settings, end),
    },
  })
}

/** Connects one command to the workflows. */
async function withControl<T>(
  settings: Settings,
  work: (control: TemporalControl) => Promise<T>,
): Promise<T> {
  const address = await findTemporalAddress(settings)
  // The address of a running stack comes without settings. Then it is the embedded one, which has no TLS.
  const place =
    settings.temporalAddress === undefined
      ? { address, namespace: settings.temporalNamespace }
      : await readTemporalPlace(settings)
  const control = openTemporalControl(place)
  try {
    return await work(control)
  } finally {
    await control.close()
  }
}

/** Asks a host once, over a connection of its own. */
async function readHostLease(deps: NodesDeps, instance: PlacedInstance): Promise<ToldLease> {
  const nodes = createNodeClient({ listNodes: () => listNodes(deps), nowMs: Date.now })
  try {
    return await leaseReader(nodes)(instance)
  } finally {
    await nodes.close()
  }
}

async function readKey({ secretKeyFile }: Settings): Promise<Uint8Array> {
  const text = await readFile(secretKeyFile, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CliFailure(
      `${secretKeyFile} can not be read (${cause.code}); it opens what the database keeps`,
      { cause },
    )
  })
  return parseSecretKey(text)
}

/**
 * The root is made here if it does not exist yet, because people want to trust a root before they use what
 * it issues.
 */
async function customDomainsAuthority(settings: Settings): Promise<CustomDomainsAuthority> {
  const { acmeDirectoryUrl: directory } = settings
  if (directory !== undefined) return { directory }
  const secretBox = createSecretBox(await readKey(settings))
  return withDatabase(await findDatabaseUrl(settings), async (database) => {
    const store = createAuthorityAccounts({ database, secretBox })
    return { certificate: (await ensureLocalAuthority(store, Date.now())).chain }
  })
}

/**
 * Reads the volumes that this machine's agent has on disk, and finds those without a row in the database.
 */
async function findVolumesOnDisk(settings: Settings): Promise<VolumesFound | undefined> {
  const directory = path.join(settings.agentDir, 'volumes')
  // The disk is read before the database. So a volume that is made in the meantime is not mistaken for one
  // without a row.
  const found = await surveyVolumes(directory)
  if (found === undefined) return undefined
  const known = await knownVolumes(settings).catch(() => undefined)
  const unknown = known === undefined ? undefined : found.uuids.filter((uuid) => !known.has(uuid))
  return { directory, ...found.room, unknown }
}

async function knownVolumes(settings: Settings): Promise<ReadonlySet<string>> {
  const url = await findDatabaseUrl(settings)
  // This command changes nothing, so it does not run migrations as other commands do.
  const database = await openDatabase({ url, applicationName: 'roost admin doctor', poolSize: 1 })
  try {
    await database.check()
    return new Set((await overlookVolumes(database)).map(({ uuid }) => uuid))
  } finally {
    await database.close()
  }
}

async function probeJail(): Promise<readonly string[]> {
  const installed = readInstalled()
  const facts = await readHostFacts(installed.qemu)
  return await findJailGaps(facts, await readGuestAssets(requireInstalled(installed, 'guestDirectory')))
}
