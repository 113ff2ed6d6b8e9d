import { succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { OnDemand } from '../event/on-demand.ts'
import { api } from '../frame/api.ts'

/** A host with the sentences that explain it. */
export type Host = Entry<'GetHostsAnswer'> & Pick<Entry<'ExplainHostsAnswer'>, 'now' | 'next' | 'failure'>

/** All hosts of the installation. No event tells of them, so a page about them reads them again and again. */
export const hosts = new OnDemand<readonly Host[]>({
  async read(signal) {
    const [all, explained] = await Promise.all([
      api.GET('/v1/hosts', { signal }),
      api.GET('/v1/hosts/explain', { signal }),
    ])
    const byName = new Map(succeeded(explained).map((one) => [one.name, one]))
    return succeeded(all).map((host) => {
      const { now = '', next = '', failure } = byName.get(host.name) ?? {}
      return { ...host, now, next, ...(failure === undefined ? {} : { failure }) }
    })
  },
  concerns: () => false,
})
