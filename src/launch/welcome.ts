import { publicAddress } from '../domain/service/public-address.ts'
import type { StackAddresses } from './stack-plan.ts'
import type { StackSettings } from './stack-settings.ts'

/** The text that a person gets once everything runs: where things are, and two commands to paste. */
export function welcome(settings: StackSettings, addresses: StackAddresses): string {
  const token = `${settings.dataDir}/token`
  const curl = `curl -sS -H "Authorization: Bearer $(cat ${quoted(token)})"`
  const own = settings.temporalAddress === undefined
  const publicUrl = (label: string) => publicAddress(`${label}.${settings.metroDomain}`, settings.portOffset)
  return `
Roost runs. Ctrl-C stops it; everything is kept in ${settings.dataDir}

  API              ${addresses.apiUrl}/v1, and ${publicUrl('api')}/v1
  Console          ${addresses.apiUrl}/console/, and ${publicUrl('console')}/
  Public names     ${publicUrl('<name>')}${settings.metroCertFile === undefined ? `; to trust their certificate: npx roost admin ca` : ''}
  Temporal Web UI  ${own ? `http://127.0.0.1:${settings.temporalUiPort}/namespaces/${settings.temporalNamespace}/workflows` : 'with your Temporal'}
  Image registry   ${addresses.registryUrl}
  Token of admin   ${token}

Run an application as a virtual machine of its own, then look at it, in this checkout:

  npx roost run hello --name first && npx roost ps

The same over the API:

  ${curl} -X POST ${addresses.apiUrl}/v1/instances -H 'Content-Type: application/json' -d '{"name":"first","image":"official/hello:latest","memory_mb":128,"autostart":true}'

  ${curl} ${addresses.apiUrl}/v1/instances/first

`
}

function quoted(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", String.raw`'\''`)}'`
}
