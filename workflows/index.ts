export { autoscale } from './autoscale/workflow.ts'
export { certificate } from './certificate/workflow.ts'
export { instance } from './instance/workflow.ts'
export { volume } from './volume/workflow.ts'
