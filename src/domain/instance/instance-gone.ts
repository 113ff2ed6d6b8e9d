/** Nothing can be asked of the instance any more: it is being deleted, or is deleted. */
export class InstanceGone extends Error {
  override readonly name = 'InstanceGone'
  constructor(instanceUuid: string, options?: ErrorOptions) {
    super(`Instance ${instanceUuid} is deleted`, options)
  }
}
