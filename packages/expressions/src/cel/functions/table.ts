import { quoted } from '../../messages/error-text.js';
import { AuthoredFailure, countKeys, fail, isMap, wordFor } from '../values/cel-value.js';
import { codePointLength, spendOnText } from '../values/texts.js';
import {
  asText,
  mathFunctions,
  type Native,
  toBool,
  toDouble,
  toDuration,
  toInt,
  toText,
  toTimestamp,
  toType,
  variadicMath,
} from './conversions.js';
import { randomFunctions } from './random.js';
import { textMethods } from './text-methods.js';
import { timeMethods } from './time-methods.js';

/** Characters of a text, elements of a list, keys of an object. */
const sizeOf: Native = (frame, [value = null]) => {
  if (Array.isArray(value)) return BigInt(value.length);
  if (isMap(value)) return BigInt(countKeys(frame, value));
  if (typeof value !== 'string') return fail(`The size of ${wordFor(value)} is not defined.`);
  spendOnText(frame, value.length);
  return BigInt(codePointLength(value));
};

/** Ends the evaluation with a text for the caller; longer ones are cut. */
const failWith: Native = (_, [message]) => {
  throw new AuthoredFailure(quoted(asText(message), MAX_AUTHORED));
};

const MAX_AUTHORED = 500;

const functions: ReadonlyMap<string, Native> = new Map<string, Native>([
  ['bool/1', toBool],
  ['double/1', toDouble],
  ['duration/1', toDuration],
  ['dyn/1', (_, [value = null]) => value],
  ['fail/1', failWith],
  ['int/1', toInt],
  ['size/1', sizeOf],
  ['string/1', toText],
  ['timestamp/1', toTimestamp],
  ['type/1', toType],
]);

const methods: ReadonlyMap<string, Native> = new Map([['size/0', sizeOf], ...textMethods, ...timeMethods]);

/** For what may be meant by a name that is none of them. */
export const functionNames: readonly string[] = [
  ...[...functions.keys(), ...methods.keys()].map((key) => key.slice(0, key.indexOf('/'))),
  ...[...mathFunctions.keys()].map((key) => `math.${key.slice(0, key.indexOf('/'))}`),
  ...[...variadicMath.keys()].map((key) => `math.${key}`),
  ...[...randomFunctions.keys()].map((key) => `random.${key.slice(0, key.indexOf('/'))}`),
  ...['has', 'map', 'filter', 'all', 'exists', 'exists_one'],
];

/** Functions are named with their number of arguments: `size(x)` is `size/1`. */
export const functionNamed = (name: string, args: number): Native | undefined =>
  functions.get(`${name}/${args}`);

/** `x.contains(y)` is `contains/1`. */
export const methodNamed = (name: string, args: number): Native | undefined => methods.get(`${name}/${args}`);

/** `math.greatest(a, b, …)` takes any number of arguments, the others one. */
export const mathFunction = (name: string, args: number): Native | undefined =>
  mathFunctions.get(`${name}/${args}`) ?? (args > 0 ? variadicMath.get(name) : undefined);

/** `random.int(1, 6)` draws. */
export const randomFunction = (name: string, args: number): Native | undefined =>
  randomFunctions.get(`${name}/${args}`);
