import assert from 'node:assert/strict'
import proto from '@temporalio/proto'
import protobuf from 'protobufjs/light.js'

/** The package declares only the classes of Temporal's messages, but it is the root of their types, too. */
const root = proto as unknown as protobuf.Root
const servicePackage = 'temporal.api.workflowservice.v1'

/**
 * The most fields on the outermost level of a message. Temporal's messages have some twenty. A hostile host
 * could send millions in one message, and reading them would keep the process from all other work.
 */
const maxFields = 256
/** The wire type with which a group of protobuf begins. No message of Temporal has groups. */
const groupStart = 3

/** A field is absent if the message does not have it. A message inside of a message stays as its bytes. */
export type FlatValues = Readonly<Record<string, string | number | Uint8Array | undefined>>

/**
 * A message of which only some fields are known, and of those only the outermost level is read. The numbers
 * of the fields are those of Temporal's type. What a host put into the payloads of a message is not read:
 * 2.6 MB of empty payloads took a second. All fields that were not named get lost.
 */
export class FlatMessage {
  readonly #type: protobuf.Type
  readonly #names: readonly string[]

  /** Without `names`, all fields of the type are known. */
  constructor(typeName: string, names?: readonly string[]) {
    const whole = root.lookupType(`${servicePackage}.${typeName}`)
    this.#names = names ?? whole.fieldsArray.map((field) => field.name)
    this.#type = new protobuf.Type(typeName)
    for (const name of this.#names) {
      const field = whole.fields[name]
      assert.ok(field, `${typeName} has no field ${name}`)
      this.#type.add(
        new protobuf.Field(name, field.id, flatType(field), field.repeated ? 'repeated' : undefined),
      )
    }
  }

  /** Throws an error if the bytes are no message, or one with too many fields. */
  decode(bytes: Uint8Array): FlatValues {
    checkFields(bytes)
    const read = this.#type.decode(bytes) as unknown as Record<string, FlatValues[string]>
    return Object.fromEntries(
      this.#names.filter((name) => Object.hasOwn(read, name)).map((name) => [name, read[name]]),
    )
  }

  encode(values: FlatValues): Uint8Array {
    return this.#type.encode(values).finish()
  }
}

/** Takes no longer for a large message than for a small one: the contents of fields are skipped. */
function checkFields(bytes: Uint8Array): void {
  const reader = protobuf.Reader.create(bytes)
  for (let count = 0; reader.pos < reader.len; count++) {
    if (count === maxFields) throw new RangeError(`it has more than ${maxFields} fields`)
    const wireType = reader.uint32() & 7
    if (wireType === groupStart) throw new RangeError('it has a group of fields')
    reader.skipType(wireType)
  }
}

function flatType(field: protobuf.Field): string {
  field.resolve()
  if (field.resolvedType instanceof protobuf.Enum) return 'int32'
  return field.resolvedType === null ? field.type : 'bytes'
}
