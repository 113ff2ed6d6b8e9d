import type { VNode } from 'preact'
import { addressOfDomain } from '../frame/installation.ts'

/** A domain, as a link that opens it in a page of its own. */
export function DomainLink({ fqdn }: { readonly fqdn: string }): VNode {
  const address = addressOfDomain(fqdn)
  if (address === undefined) return <span>{fqdn}</span>
  return (
    <a href={address} target="_blank" rel="noreferrer">
      {fqdn}
    </a>
  )
}
