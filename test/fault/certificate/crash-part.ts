import { pino } from 'pino'
import { createCertificateActivities } from '../../../activities/certificate/activities.ts'
import { createControlActivities } from '../../../activities/control-activities.ts'
import { createAcmeIssuer } from '../../../src/acme/acme-issuer.ts'
import { createDiagnosis } from '../../../src/acme/diagnosis.ts'
import type { Issuer } from '../../../src/acme/issuer.ts'
import { ControlWorker } from '../../../src/bin/worker-temporal.ts'
import { createAuthorityAccounts } from '../../../src/db/certificate/authority-accounts.ts'
import { openDatabase } from '../../../src/db/database.ts'
import { createSecretBox, parseSecretKey } from '../../../src/db/secret-box.ts'
import { createMortalCalls, workAloud } from '../mortal-calls.ts'
import { mortalDatabase } from '../mortal-database.ts'

/**
 * Options of the control worker that ends itself with -9 at one named point: `node certificate/crash-part.ts
 * <options as JSON>`. It writes `ready` once it takes work.
 */
export interface CertificateCrashOptions {
  readonly place: { readonly address: string; readonly namespace: string }
  readonly databaseUrl: string
  readonly bundle: string
  readonly secretKey: string
  readonly authority: {
    readonly directoryUrl: string
    readonly ca: string
    readonly resolver: string
    readonly httpPort: number
    readonly tlsPort: number
  }
  /** The point of death: `<activity, call of the authority or write> <nth>, before` or `, after`. */
  readonly point?: string
}

const options = JSON.parse(process.argv[2] ?? '') as CertificateCrashOptions
const calls = createMortalCalls(options.point)
const { mortal } = calls

const { databaseUrl: url, authority } = options
const opened = await openDatabase({ url, applicationName: 'crash test worker', poolSize: 2 })
const database = mortalDatabase(opened, calls)
const secretBox = createSecretBox(parseSecretKey(options.secretKey))
const { directoryUrl, ca, resolver, httpPort, tlsPort } = authority
const store = createAuthorityAccounts({ database, secretBox })
const issuer: Issuer = mortal(createAcmeIssuer({ directoryUrl, ca, store }), 'authority.')
const worker = new ControlWorker({
  place: options.place,
  activities: {
    ...mortal(createControlActivities({ database })),
    ...mortal(
      createCertificateActivities({
        database,
        secretBox,
        issuer,
        directory: directoryUrl,
        diagnosis: createDiagnosis({ resolver, ports: { httpPort, tlsPort }, asksPrivate: true }),
        nowMs: Date.now,
      }),
    ),
  },
  workflowBundle: options.bundle,
  log: pino({ level: 'silent' }),
  sdkMetricsAddress: '127.0.0.1:0',
})
await workAloud(worker)
