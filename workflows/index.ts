export { autoscale } from './autoscale.ts'
export { certificate } from './certificate.ts'
export { instance } from './instance.ts'
export { volume } from './volume.ts'
