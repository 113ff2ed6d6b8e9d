/**
 * Returns a port that does what `port` does, for an owner that may die. What the owner began before its
 * death may still happen. But the owner never hears of it, and begins nothing more.
 */
export function mortal<T extends object>(port: T, owner: { readonly alive: boolean }): T {
  return new Proxy(port, {
    get: (target, name) => {
      const found = Reflect.get(target, name) as unknown
      if (typeof found !== 'function') return found
      return (...args: unknown[]): unknown =>
        callOf(owner, () =>
          (found as Method).apply(
            target,
            args.map((arg) => whileAlive(owner, arg)),
          ),
        )
    },
  })
}

type Method = (...args: unknown[]) => unknown

function whileAlive(owner: { readonly alive: boolean }, arg: unknown): unknown {
  if (typeof arg !== 'function') return arg
  return (...heard: unknown[]) => {
    if (owner.alive) (arg as Method)(...heard)
  }
}

function callOf(owner: { readonly alive: boolean }, call: () => unknown): unknown {
  if (!owner.alive) return new Promise(() => undefined)
  const result = call()
  if (!(result instanceof Promise)) return result
  return new Promise((resolve, reject) => {
    result.then(
      (value: unknown) => {
        if (owner.alive) resolve(value)
      },
      (error: unknown) => {
        if (owner.alive) reject(error)
      },
    )
  })
}
