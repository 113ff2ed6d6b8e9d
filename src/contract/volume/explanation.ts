import { Type } from 'typebox'
import { volumeStates } from '../../domain/volume/state.ts'
import { explanationFields } from '../explanation.ts'
import { closed, statusSuccess, uuidField, vocabulary } from '../fields.ts'

export const explainedVolume = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: Type.String({ description: 'Name of the volume.' }),
  state: vocabulary(volumeStates, 'Current state.'),
  ...explanationFields,
  host: Type.String({ description: 'The host whose disk has it.' }),
})
