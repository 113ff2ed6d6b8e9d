/** The names to which each name of a graph leads directly. */
export type Graph = ReadonlyMap<string, readonly string[]>

/**
 * Returns the circles of a graph: the largest sets of two or more names that all lead to each other (Tarjan's
 * algorithm).
 */
export function circlesOf(graph: Graph): readonly (readonly string[])[] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []

  const visit = (name: string): number => {
    const own = order.size
    order.set(name, own)
    lowest.set(name, own)
    open.push(name)
    for (const next of graph.get(name) ?? []) {
      const reached = order.has(next) ? (open.includes(next) ? Number(order.get(next)) : own) : visit(next)
      lowest.set(name, Math.min(Number(lowest.get(name)), reached))
    }
    if (lowest.get(name) === own) close(name)
    return Number(lowest.get(name))
  }
  const close = (name: string): void => {
    const circle = open.splice(open.indexOf(name))
    if (circle.length > 1) circles.push(circle.toSorted())
  }

  for (const name of graph.keys()) if (!order.has(name)) visit(name)
  return circles
}
