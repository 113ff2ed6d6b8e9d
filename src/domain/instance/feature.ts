/**
 * Switches that are given at creation. `scale-to-zero` is the deprecated form of a `scale_to_zero` object.
 */
export const InstanceFeature = {
  ScaleToZero: 'scale-to-zero',
  DeleteOnStop: 'delete-on-stop',
} as const
export type InstanceFeature = (typeof InstanceFeature)[keyof typeof InstanceFeature]
