import pg from 'pg';

const { builtins, getTypeParser } = pg.types;

/**
 * How column values arrive: `bigint` as number (a value above 2^53−1 is an error, never rounded),
 * `timestamptz` as Date, `jsonb` parsed, `numeric` as text.
 */
export const valueParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === builtins.INT8 ? safeInteger : getTypeParser(oid, format)) as typeof getTypeParser,
};

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} is not a safe integer`);
  return value;
}
