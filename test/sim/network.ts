import type { FakeNetwork } from '../../src/host/fakes/fake-network.ts'
import type { Network } from '../../src/host/network/network.ts'
import type { World } from './world.ts'

type Method = (...args: unknown[]) => unknown

/** Returns the machine's network for one agent. Each call takes a while. */
export function slowNetwork(world: World, network: FakeNetwork): Network {
  return new Proxy<Network>(network, {
    get: (_, name) => {
      const method = Reflect.get(network, name) as Method
      if (name === 'onPeerTraffic') return method.bind(network)
      return async (...args: unknown[]): Promise<unknown> => {
        await world.sleep(world.dice.stretched(0.05, 5))
        return await method.apply(network, args)
      }
    },
  })
}
