import { untilAnswers } from '../readiness.ts'
import { compiledIn } from './compiled-sources.ts'
import { ownProgram } from './own-program.ts'
import type { Part } from './part.ts'
import type { RoostConfinements } from './roost-confinements.ts'

/** The values from which Roost's own parts are made. */
export interface RoostPartsOptions {
  readonly env: Readonly<Record<string, string>>
  readonly apiAt: string
  readonly workerAt: string
  readonly agentAt: string
  readonly gatewayAt: string
  /** The directory of the gateway's files, which its user owns. */
  readonly gatewayDir: string
  /** The confinements of the parts. If it is undefined, all parts run as the supervisor's user. */
  readonly confinements: RoostConfinements | undefined
  /** The address of the registry owner. It is absent if the registry is not the stack's own. */
  readonly registryOwnerAt?: string
  /** Called once the API answers for the first time. */
  readonly afterApi: () => Promise<void>
}

/**
 * With SIGINT an agent ends its virtual machines. With SIGTERM it leaves them running, and the next agent
 * takes them over.
 */
export const agentSignals = { stopSignal: 'SIGINT', keepVmsSignal: 'SIGTERM' } as const

export function roostParts(options: RoostPartsOptions): readonly Part[] {
  // The environment of the agent and the gateway. They could also run on other machines, so they do not get
  // what only the control plane needs. A variable that is set empty counts as absent.
  const elsewhere = { ...options.env, DATABASE_URL: '', ROOST_ACME_EAB_HMAC_KEY: '' }
  const confined = options.confinements
  const { registryOwnerAt } = options
  const part = (name: string, at: string, stopLimitMs: number): Part => ({
    ...ownProgram(name),
    env: options.env,
    stopSignal: 'SIGTERM',
    stopLimitMs,
    ready: (signal) => untilAnswers(`${at}/readyz`, signal),
  })
  const registryOwner: Part[] =
    registryOwnerAt === undefined
      ? []
      : [
          {
            ...part('registry-owner', registryOwnerAt, 2_000),
            confinement: confined?.registryOwner,
            givesWay: true,
            // 401 is a healthy registry's answer to a client without a token.
            ready: (signal) => untilAnswers(`${registryOwnerAt}/v2/`, signal, [200, 401]),
          },
        ]
  return [
    // The registry owner comes first: once the API answers, the official images are pushed through it.
    ...registryOwner,
    { ...part('api', options.apiAt, 2_000), confinement: confined?.api, afterFirstReady: options.afterApi },
    { ...part('worker', options.workerAt, 3_000), confinement: confined?.worker },
    // The agent has a longer limit, because it ends the virtual machines of this host first.
    { ...part('agent', options.agentAt, 5_000), ...agentSignals, env: elsewhere },
    {
      ...part('gateway', options.gatewayAt, 2_000),
      handsOver: true,
      // SIGTERM asks the gateway to hand over its work. This signal ends it.
      stopSignal: 'SIGINT',
      confinement: confined?.gateway,
      env: { ...elsewhere, ...confined?.gatewayEnv, ...compiledIn(options.gatewayDir) },
    },
  ]
}
