// JSON Schema of the few words the cases use: type, properties, required, items, enum,
// additionalProperties: false.

import { isDeepStrictEqual } from 'node:util';

const IS_TYPE = {
  null: value => value === null,
  boolean: value => typeof value === 'boolean',
  number: value => typeof value === 'number',
  integer: value => Number.isInteger(value),
  string: value => typeof value === 'string',
  array: value => Array.isArray(value),
  object: value => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** `schema` in the form the package takes, checked by us: the package brings no validator. */
export function toSdkSchema(sdk, schema) {
  return sdk.jsonSchema(schema, {
    validate: value =>
      matches(schema, value)
        ? { success: true, value }
        : { success: false, error: new Error('value does not match its schema') },
  });
}

function matches(schema, value) {
  if (schema.type !== undefined && ![schema.type].flat().some(type => IS_TYPE[type](value))) return false;
  if (schema.enum !== undefined && !schema.enum.some(item => isDeepStrictEqual(item, value))) return false;
  if (IS_TYPE.array(value)) return value.every(item => matches(schema.items ?? {}, item));
  return !IS_TYPE.object(value) || matchesObject(schema, value);
}

function matchesObject({ properties = {}, required = [], additionalProperties }, value) {
  if (required.some(name => !Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, item]) =>
    Object.hasOwn(properties, name) ? matches(properties[name], item) : additionalProperties !== false,
  );
}
