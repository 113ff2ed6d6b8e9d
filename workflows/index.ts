export { instance } from './instance.ts'
