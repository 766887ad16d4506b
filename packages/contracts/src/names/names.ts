import { isPollutingKey } from '../json/json.js';
import { name } from '../records/fields.js';

/** A name that is a path segment: URL libraries resolve `.` and `..`, so things of these names could not be reached. */
export const segmentName = name.refine(
  (text) => text !== '.' && text !== '..',
  'The name may not be "." or "..".',
);

/** Change keys are `schema:instanceId`, so a schema's name holds no colon; it is a key of maps, too. */
export const schemaName = segmentName
  .refine((text) => !text.includes(':'), 'A schema name may not contain ":".')
  .refine((text) => !isPollutingKey(text), 'This name is reserved.')
  .meta({
    id: 'SchemaName',
    description:
      'A name of 1 to 255 characters without ":". It is not ".", "..", `__proto__`, `constructor` or `prototype`.',
  });

/** An instanceId stands in paths, and is a key of the maps that templates read. */
export const instanceId = segmentName
  .refine((text) => !isPollutingKey(text), 'This name is reserved.')
  .meta({
    id: 'InstanceId',
    description:
      'A key of 1 to 255 characters. It is not ".", "..", `__proto__`, `constructor` or `prototype`.',
  });

/** Attribute names are reached by dotted paths and stand beside `$` operators and `{{…}}`. */
export const attributeName = name
  .refine((text) => !text.includes('.'), 'An attribute name may not contain ".".')
  .refine((text) => !text.includes('{{'), 'An attribute name may not contain "{{".')
  .refine((text) => !text.startsWith('$'), 'An attribute name may not start with "$".')
  .refine((text) => !isPollutingKey(text), 'This name is reserved.')
  .meta({
    id: 'AttributeName',
    description:
      'A name of 1 to 255 characters without "." and "{{" and without "$" at its start. It is not `__proto__`, ' +
      '`constructor` or `prototype`.',
  });
