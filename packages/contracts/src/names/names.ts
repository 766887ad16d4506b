import { z } from 'zod';
import { isCleanText, isPollutingKey } from '../json/json.js';
import { name, toNfc } from '../records/fields.js';

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

/** A name in a path: looked up as it would have been stored, so NFC; what no name can be is simply not found. */
export const nameInPath = z
  .string()
  .transform(toNfc)
  .pipe(
    z.string().min(1).max(1024).refine(isCleanText, 'The text may not contain U+0000 or lone surrogates.'),
  )
  .meta({ minLength: 1, maxLength: 1024 });

/** What a thing of the catalog is called in a path; a slash in it is sent as %2F. */
export const schemaInPath = nameInPath.describe('Name of the entity schema, percent-encoded.');
export const attributeInPath = nameInPath.describe('Name of the attribute, percent-encoded.');
export const eventInPath = nameInPath.describe('Name of the event, percent-encoded.');

/** A world in a path: its numeric id or its address, in any case of letters. */
export const worldInPath = z
  .string()
  .min(1)
  .max(64)
  .describe('The world: its numeric id, or its address in any case of letters.');

/** No version has this number: numbers begin at 1. */
const NO_VERSION = 0;

/**
 * A version number in a path; read again by the service, so a number is accepted too. A number has one spelling: `01`
 * names no version, so it is not found like any other unknown one.
 */
export const versionInPath = z
  .union([
    z.int().min(0).max(999_999_999),
    z.string().regex(/^\d{1,9}$/, 'A version number has 1 to 9 digits.'),
  ])
  .transform((text) => (/^0./.test(String(text)) ? NO_VERSION : Number(text)))
  .describe('Number of the version, from 1, without leading zeros.');

const inPath = z.string().meta({ maxLength: 64 });

/** A deployment in a path. */
export const deploymentInPath = inPath.describe(
  'The deployment: its numeric id, or its address in any case of letters.',
);

/** Path parameters of everything in a world's deployments; each may be a numeric id or an address. */
export const worldPath = z.strictObject({
  worldAddress: inPath.describe(worldInPath.description ?? ''),
});
export const deploymentPath = z.strictObject({ ...worldPath.shape, address: deploymentInPath });

/** The path of a deployment, with the parameters of `deploymentPath`. */
export const DEPLOYMENT_PATH = '/api/worlds/:worldAddress/deployments/:address';
/** What all operations below it have in common. */
export const IN_DEPLOYMENT = { params: deploymentPath, errors: ['deployment_not_found'] } as const;

/** An entry of a deployment's journal in a path. */
export const historyIdInPath = z
  .string()
  .min(1)
  .max(64)
  .describe('Id of the history entry: the `historyId` of an execution.');
