/** The policies that say when an instance that stopped by itself is started again. */
export const RestartPolicy = {
  Never: 'never',
  Always: 'always',
  OnFailure: 'on-failure',
} as const
export type RestartPolicy = (typeof RestartPolicy)[keyof typeof RestartPolicy]
