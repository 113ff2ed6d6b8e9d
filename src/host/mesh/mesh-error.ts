/** The machine can not be in the mesh, or what it was told about the mesh is wrong. */
export class MeshError extends Error {
  override readonly name = 'MeshError'
}
