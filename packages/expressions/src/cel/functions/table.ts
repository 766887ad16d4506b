import { toBool, toDouble, toInt } from './conversions.js';
import { mathFunctions, variadicMath } from './maths.js';
import type { Native } from './native.js';
import { sizeOf } from './sizes.js';
import { textMethods } from './text-methods.js';
import { timeMethods } from './time-methods.js';
import { toDuration, toText, toTimestamp, toType } from './values.js';

const functions: ReadonlyMap<string, Native> = new Map<string, Native>([
  ['bool/1', toBool],
  ['double/1', toDouble],
  ['duration/1', toDuration],
  ['dyn/1', (_, [value = null]) => value],
  ['int/1', toInt],
  ['size/1', sizeOf],
  ['string/1', toText],
  ['timestamp/1', toTimestamp],
  ['type/1', toType],
]);

const methods: ReadonlyMap<string, Native> = new Map([['size/0', sizeOf], ...textMethods, ...timeMethods]);

/** Functions are named with their number of arguments: `size(x)` is `size/1`. */
export const functionNamed = (name: string, args: number): Native | undefined =>
  functions.get(`${name}/${args}`);

/** `x.contains(y)` is `contains/1`. */
export const methodNamed = (name: string, args: number): Native | undefined => methods.get(`${name}/${args}`);

/** `math.greatest(a, b, …)` takes any number of arguments, the others one. */
export const mathFunction = (name: string, args: number): Native | undefined =>
  mathFunctions.get(`${name}/${args}`) ?? (args > 0 ? variadicMath.get(name) : undefined);
