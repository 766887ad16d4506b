import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { isJsonText } from './draw-text.js';
import { drawValue } from './draw-value.js';
import type { Random } from './random.js';

/** Bounds that a contract has and the requested schema leaves out. */
const BOUNDS = ['pattern', 'format', 'minLength', 'maxLength', 'minItems', 'maxItems'];

/** A result's schema as requested, with what the contract says beyond it, and texts that hold JSON drawn from the contract. */
export const fitResult = (asked: JsonValue, contract: JsonValue | undefined, random: Random): JsonValue =>
  fitted(asked, contract, (schema) => {
    const definitions =
      isJsonObject(contract) && contract.$defs !== undefined ? { $defs: contract.$defs } : {};
    return JSON.stringify(drawValue({ ...schema, ...definitions }, random));
  });

function fitted(
  asked: JsonValue,
  contract: JsonValue | undefined,
  textOf: (schema: JsonObject) => string,
): JsonValue {
  if (!isJsonObject(asked) || !isJsonObject(contract)) return asked;
  if (isJsonText(asked)) return { const: textOf(contract) };
  const bounds = Object.fromEntries(
    BOUNDS.flatMap((name) => (contract[name] ? [[name, contract[name]]] : [])),
  );
  const within = isJsonObject(contract.properties) ? contract.properties : {};
  const properties = Object.entries(isJsonObject(asked.properties) ? asked.properties : {}).map(
    ([name, one]) => [name, fitted(one, within[name], textOf)],
  );
  return {
    ...asked,
    ...bounds,
    ...(asked.properties && { properties: Object.fromEntries(properties) }),
    ...(asked.items && { items: fitted(asked.items, contract.items, textOf) }),
  };
}
