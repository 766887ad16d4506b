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

export type Field =
  | (Bounded & { readonly kind: 'text'; readonly isLong: boolean })
  | (Bounded & { readonly kind: 'number'; readonly isWhole: boolean })
  | (Described & { readonly kind: 'boolean' })
  | (Described & { readonly kind: 'choice'; readonly options: readonly unknown[] })
  | (Described & { readonly kind: 'object'; readonly members: readonly Member[] })
  | (Bounded & { readonly kind: 'list'; readonly item: Field })
  /** Any value, entered as JSON text. */
  | (Described & { readonly kind: 'json' });

type FieldOf<Kind extends Field['kind']> = Extract<Field, { readonly kind: Kind }>;
export type TextField = FieldOf<'text'>;
export type NumberField = FieldOf<'number'>;
export type ListField = FieldOf<'list'>;
export type ObjectField = FieldOf<'object'>;

export interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly field: Field;
}
