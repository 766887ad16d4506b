import { type CelMap, CelType, type CelValue, parseDuration, parseTimestamp } from '../values/cel-value.js';

/** A value as the suite writes it: protobuf JSON of `cel.expr.Value`. */
export interface SuiteValue {
  nullValue?: unknown;
  boolValue?: boolean;
  int64Value?: string;
  doubleValue?: number | string;
  stringValue?: string;
  typeValue?: string;
  listValue?: { values?: SuiteValue[] };
  mapValue?: { entries?: { key: SuiteValue; value: SuiteValue }[] };
  objectValue?: { '@type': string; value?: string };
}

/** The value in our terms; `undefined` for what templates do not have (bytes, unsigned integers, messages, enums). */
export function expectedValue(value: SuiteValue): CelValue | undefined {
  if ('nullValue' in value) return null;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.int64Value !== undefined) return BigInt(value.int64Value);
  if (value.doubleValue !== undefined) return Number(value.doubleValue);
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.typeValue !== undefined) return new CelType(value.typeValue);
  if (value.listValue !== undefined) return all(value.listValue.values ?? []);
  if (value.mapValue !== undefined) return mapOf(value.mapValue.entries ?? []);
  return value.objectValue && wellKnown(value.objectValue['@type'], value.objectValue.value ?? '');
}

function all(values: readonly SuiteValue[]): CelValue[] | undefined {
  const items = values.map(expectedValue);
  return items.includes(undefined) ? undefined : (items as CelValue[]);
}

function mapOf(entries: readonly { key: SuiteValue; value: SuiteValue }[]): CelMap | undefined {
  const map: CelMap = {};
  for (const entry of entries) {
    const value = expectedValue(entry.value);
    if (entry.key.stringValue === undefined || value === undefined) return undefined;
    map[entry.key.stringValue] = value;
  }
  return map;
}

function wellKnown(type: string, text: string): CelValue | undefined {
  if (type.endsWith('/google.protobuf.Timestamp')) return parseTimestamp(text);
  return type.endsWith('/google.protobuf.Duration') ? parseDuration(text) : undefined;
}
