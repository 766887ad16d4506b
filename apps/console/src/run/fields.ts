interface Described {
  readonly title?: string;
  readonly description?: string;
  /** What values may be, in words. */
  readonly hint?: string;
  /** What the form starts with. */
  readonly initial?: unknown;
}

export interface TextField extends Described {
  readonly kind: 'text';
  readonly isLong: boolean;
}
export interface NumberField extends Described {
  readonly kind: 'number';
  readonly isWhole: boolean;
}
export interface BooleanField extends Described {
  readonly kind: 'boolean';
}
/** One of some values, which may be of any type. */
export interface ChoiceField extends Described {
  readonly kind: 'choice';
  readonly options: readonly unknown[];
}
export interface ObjectField extends Described {
  readonly kind: 'object';
  readonly members: readonly Member[];
}
export interface ListField extends Described {
  readonly kind: 'list';
  readonly item: Field;
}
/** Any value, entered as JSON text. */
export interface JsonField extends Described {
  readonly kind: 'json';
}
export type Field =
  | TextField
  | NumberField
  | BooleanField
  | ChoiceField
  | ObjectField
  | ListField
  | JsonField;

export interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly field: Field;
}
