import { computed } from '@preact/signals'
import { OnDemand } from '../event/on-demand.ts'

/** All objects of a kind. */
export class ObjectStore<T> extends OnDemand<readonly T[]> {
  readonly all = computed(() => this.value.value ?? [])
  readonly isKnown = computed(() => this.value.value !== undefined)
}
