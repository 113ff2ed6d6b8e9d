import { operations, plainEndpoints, reservedObjectNames } from '../contract/operations.ts'
import type { Operation } from '../contract/operation.ts'

/**
 * The index of the path's part after `/v1/instances`. That part names an object unless it is an endpoint.
 */
const namedIndex = 2

/** The methods of a path, from the table of operations; none if there is no such path. */
export function allowedMethods(path: string): readonly string[] {
  const parts = split(path)
  const methods = new Set<string>()
  for (const operation of Object.values(operations) as readonly Operation[]) {
    if (fits(split(operation.path), parts) || fits(split(operation.localPath ?? ''), parts)) {
      methods.add(operation.method)
    }
  }
  if (plainEndpoints.some((endpoint) => endpoint.path === path)) methods.add('GET')
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods].toSorted()
}

function split(path: string): readonly string[] {
  return path.replace(/\/$/, '').split('/').slice(1)
}

function fits(template: readonly string[], parts: readonly string[]): boolean {
  if (template.length === 0 || template.length !== parts.length) return false
  return template.every((wanted, index) => {
    const part = parts[index] ?? ''
    if (!wanted.startsWith('{')) return wanted === part
    return index !== namedIndex || !reservedObjectNames.has(part)
  })
}
