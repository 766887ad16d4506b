interface Described {
  readonly title?: string;
  readonly description?: string;
  /** What values may be, in words. */
  readonly hint?: string;
  /** What the form starts with. */
  readonly initial?: unknown;
}

/** Bounds of a number, or of how long a text or a list is. The hint names them, the form checks them. */
export interface Bounds {
  readonly least?: number;
  readonly most?: number;
  /** Exclusive. */
  readonly above?: number;
  /** Exclusive. */
  readonly below?: number;
}
interface Bounded extends Described {
  readonly bounds?: Bounds;
}

export interface TextField extends Bounded {
  readonly kind: 'text';
  readonly isLong: boolean;
}
export interface NumberField extends Bounded {
  readonly kind: 'number';
  readonly isWhole: boolean;
}
export interface BooleanField extends Described {
  readonly kind: 'boolean';
}
export interface ChoiceField extends Described {
  readonly kind: 'choice';
  readonly options: readonly unknown[];
}
export interface ObjectField extends Described {
  readonly kind: 'object';
  readonly members: readonly Member[];
}
export interface ListField extends Bounded {
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
