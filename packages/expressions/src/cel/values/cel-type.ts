import { BeyondJson, type CelKind, type CelValue, kindOf } from './cel-value.js';

/** What `type(x)` answers; compared by name: `type(input.x) == string`. */
export class CelType extends BeyondJson {
  readonly kind = 'type';
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  toText(): undefined {
    return undefined;
  }
}

const NAMES: Readonly<Record<CelKind, string>> = {
  null: 'null_type',
  bool: 'bool',
  double: 'double',
  int: 'int',
  string: 'string',
  list: 'list',
  map: 'map',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  type: 'type',
};

/** Type names that an expression may use as values. */
export const TYPE_NAMES: ReadonlySet<string> = new Set(
  Object.values(NAMES).filter((name) => !name.includes('.')),
);

export const typeOf = (value: CelValue): CelType => new CelType(NAMES[kindOf(value)]);
