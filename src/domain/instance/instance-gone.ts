/** Thrown when a command reaches an instance that is being deleted, or is deleted. */
export class InstanceGone extends Error {
  override readonly name = 'InstanceGone'
  constructor(instanceUuid: string, options?: ErrorOptions) {
    super(`Instance ${instanceUuid} is deleted`, options)
  }
}
